import { sha256 } from '../adapters/sha256.ts';

/** JSON with sorted keys and no blanks; the same for an object that went through `JSON.stringify` and back. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** The SHA-256 of the canonical JSON. */
export const digestOf = (value: unknown): string => sha256(canonical(value));

/**
 * The value of a text that is canonical JSON, to the byte. Anything else is refused: a key twice, which parsers read
 * differently, other white space or order, nesting beyond the stack.
 */
export function parseCanonical(text: string): { value: unknown } | 'not-json' | 'not-canonical' {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not-json';
  }
  try {
    return canonical(value) === text ? { value } : 'not-canonical';
  } catch {
    return 'not-canonical';
  }
}
