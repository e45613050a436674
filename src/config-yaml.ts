import { readFileSync } from 'node:fs';
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { type FleetError, wrongInput } from './domain/error.ts';

/** The text side of config.yaml: what it says, and in which line it says it. */

export type Raw = { [key: string]: unknown };

export interface Yaml {
  /** Empty for an empty file. A key with nothing behind it is left out. */
  value: Raw;
  /** The line, counted from 1, of the deepest part of the path that is there. */
  lineOf(path: readonly PropertyKey[]): number;
  document: Document.Parsed;
}

/** The file's text; empty where there is none. @throws FleetError (2) where it cannot be read. */
export function readConfig(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw wrongInput(`${path} cannot be read: ${code ?? String(error)}`, { cause: error });
  }
}

/** @throws FleetError (2) with file and line. */
export function parseYaml(path: string, text: string): Yaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (line: number, message: string): FleetError => wrongInput(`${path}:${line}: ${message}`);
  const [wrong] = document.errors;
  if (wrong) throw fail(lines.linePos(wrong.pos[0]).line, `this is no valid YAML: ${wrong.message}`);
  if (
    document.contents &&
    !isMap(document.contents) &&
    !(isScalar(document.contents) && document.contents.value === null)
  ) {
    throw fail(1, 'the file must hold keys and values');
  }
  let value: Raw;
  try {
    value = (document.toJS() ?? {}) as Raw;
  } catch (error) {
    throw fail(1, `this is no valid YAML: ${(error as Error).message}`);
  }
  const said = Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null));
  return { value: said, document, lineOf: (key) => lines.linePos(offsetOf(document, key)).line };
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let [node, offset]: [unknown, number] = [document.contents, 0];
  for (const part of path) {
    const next = childOf(node, part);
    if (!next) break;
    offset = next.at?.range?.[0] ?? offset;
    node = next.node;
  }
  return offset;
}

type Ranged = { range?: [number, number, number] | null };

function childOf(node: unknown, part: PropertyKey): { at: Ranged | undefined; node: unknown } | undefined {
  if (isSeq(node)) return { at: node.items[Number(part)] as Ranged | undefined, node: node.items[Number(part)] };
  const pair = isMap(node)
    ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
    : undefined;
  return pair && { at: pair.key as Ranged, node: pair.value };
}

const isRaw = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);
export const nest = (path: readonly string[], value: unknown): Raw =>
  path.reduceRight((inner, key) => ({ [key]: inner }), value) as Raw;
export const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

/** Objects are merged, everything else is replaced; undefined says nothing. */
export function merge(below: Raw, above: Raw): Raw {
  return Object.entries(above).reduce((sum, [key, value]) => {
    if (value === undefined) return sum;
    const beneath = Object.hasOwn(sum, key) ? sum[key] : undefined;
    return { ...sum, [key]: isRaw(value) && isRaw(beneath) ? merge(beneath, value) : value };
  }, below);
}
