import { randomInt } from 'node:crypto';
import type { Node } from '@vscode/tree-sitter-wasm';
import { findAll } from './nodes.ts';

type Kind = 'number' | 'string' | 'list' | 'map';

/** A value as it is written, and what tells it from others: those that differ in it are not equal. */
interface Written {
  text: string;
  value: string;
}

const LENGTH_MAX = 200;
const MEMBERS_MAX = 2_000;
const known = new WeakMap<object, Map<string, Written[]>>();

/**
 * Another value of the same kind that the file has elsewhere: whoever knows which values the tests have does not know which of them
 * was where. Undefined: there is none, or it is not sure that they differ.
 */
export function valueElsewhere(node: Node, kind: Kind, kinds: Readonly<Record<string, string>>): string | undefined {
  const own = writtenIn(node, kind);
  if (!own) return undefined;
  const all = valuesIn(node, kinds).get(node.type) ?? [];
  const isFar = (value: string) =>
    Math.abs(Number(value) - Number(own.value)) > Math.max(Number(value), Number(own.value)) / 9;
  const others = all.filter(({ value }) => value !== own.value && (kind !== 'number' || isFar(value)));
  return others.length > 0 ? others[randomInt(others.length)]!.text : undefined;
}

function valuesIn(node: Node, kinds: Readonly<Record<string, string>>): Map<string, Written[]> {
  const found = known.get(node.tree);
  if (found) return found;
  const values = new Map<string, Written[]>();
  const types = new Set(Object.keys(kinds).filter((type) => /^(number|string|list|map)$/.test(kinds[type]!)));
  for (const one of findAll(node.tree.rootNode, types).slice(0, MEMBERS_MAX)) {
    const written = writtenIn(one, kinds[one.type] as Kind);
    if (written) values.set(one.type, [...(values.get(one.type) ?? []), written]);
  }
  known.set(node.tree, values);
  return values;
}

const NUMBER = /^(0|[1-9]\d{0,14})$/;
const STRING = /^(?:"([^"\\\n]*)"|'([^'\\\n]*)')$/;
const TOKENS = /"[^"\\\n]*"|'[^'\\\n]*'|\b(?:0|[1-9]\d{0,14})\b|[\s,:{}()[\]]+/g;

/** Of whole numbers and plain texts alone, and of lists and maps of those. */
function writtenIn({ text, startIndex, endIndex }: Node, kind: Kind): Written | undefined {
  if (endIndex - startIndex > LENGTH_MAX) return undefined;
  if (kind === 'number') return NUMBER.test(text) ? { text, value: text } : undefined;
  if (kind === 'string') {
    const [, double, single] = STRING.exec(text) ?? [];
    const value = double ?? single;
    return value === undefined ? undefined : { text, value };
  }
  // An order that means something or not: those of the same members are held for the same.
  if (text.replaceAll(TOKENS, '') !== '') return undefined;
  const members = [...text.matchAll(TOKENS)].map(([one]) => one).filter((one) => /["'\d]/.test(one));
  return {
    text,
    value: members
      .map((one) => one.replaceAll(/^["']|["']$/g, '\0'))
      .toSorted()
      .join(' '),
  };
}
