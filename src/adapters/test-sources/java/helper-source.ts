import type { Node } from '@vscode/tree-sitter-wasm';
import { children, field, shortText } from '../shared/nodes.ts';

/** What a file's tests are written with, by its imports. */
export interface Libraries {
  junit: 4 | 5 | null;
  assertj: boolean;
  hamcrest: boolean;
}

/** What an assertion is read with. */
export interface JavaContext {
  libraries: Libraries;
  /** The class that `helperClass` defines. */
  helper: string;
  /** Methods that the file declares: what is called so is no assertion of a library's. */
  own: ReadonlySet<string>;
}

/** What a call calls, e.g. `List.of`. */
export const nameOf = (call: Node): string => {
  const object = shortText(field(call, 'object'));
  return `${object === '' ? '' : `${object}.`}${shortText(field(call, 'name'))}`;
};

export function librariesOf(root: Node): Libraries {
  const imports = children(root)
    .filter(({ type }) => type === 'import_declaration')
    .map(shortText);
  const has = (module: string) => imports.some((text) => text.includes(module));
  return {
    junit: has('org.junit.jupiter.') ? 5 : has('org.junit.') ? 4 : null,
    assertj: has('org.assertj.core.api.'),
    hamcrest: has('org.hamcrest.') || has('org.junit.Assert.assertThat'),
  };
}

/**
 * A class that the turned source has at its end, for Java 8 and later: `turn` gives another value of the same kind, `error` a class of
 * errors that nobody throws, `kept` the value that `keep` was given last.
 */
export const helperClass = (name: string): string =>
  `@SuppressWarnings("all") final class ${name} {
  static final class Err extends Error { }
  private static Object last;
  static <T> Class<T> error(Class<T> type) { return (Class<T>) (Class) Err.class; }
  static Object nothing(Object v) { return null; }
  static Object keep(Object v) { last = v; return v; }
  static Object kept() { return last; }
  static Object turn(Object v) {
    if (v instanceof Boolean) return !((Boolean) v).booleanValue();
    if (v instanceof Integer) return ((Integer) v).intValue() ^ 1;
    if (v instanceof Long) return ((Long) v).longValue() ^ 1L;
    if (v instanceof Character) return (char) (((Character) v).charValue() ^ 1);
    if (v instanceof Double) return ((Double) v).isNaN() || ((Double) v).isInfinite() ? 0.5d : ((Double) v).doubleValue() * 2 + (((Double) v).doubleValue() < 0 ? -1 : 1);
    if (v instanceof String) return v + "x";
    if (v instanceof java.math.BigInteger) return ((java.math.BigInteger) v).add(java.math.BigInteger.ONE);
    if (v instanceof java.math.BigDecimal) return ((java.math.BigDecimal) v).add(java.math.BigDecimal.ONE);
    if (v instanceof Enum && ((Enum) v).getDeclaringClass().getEnumConstants().length > 1) { Object[] all = ((Enum) v).getDeclaringClass().getEnumConstants(); return all[(((Enum) v).ordinal() + 1) % all.length]; }
    try {
      java.util.Collection all = v instanceof java.util.List ? new java.util.ArrayList((java.util.List) v) : v instanceof java.util.Set ? new java.util.LinkedHashSet((java.util.Set) v) : null;
      if (all != null && all.add(new Object())) return all;
      if (v instanceof java.util.Map) { java.util.Map map = new java.util.LinkedHashMap((java.util.Map) v); map.put(new Object(), 1); return map; }
    } catch (RuntimeException e) { }
    return new Object();
  }
}
`;
