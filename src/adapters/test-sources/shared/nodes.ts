import type { Node } from '@vscode/tree-sitter-wasm';
import type { DeclaredTest, Edit, Turn } from '../../../domain/evidence/test-source.ts';

/** What a language's reader finds in one parsed file. */
export interface Found {
  framework: string | null;
  tests: DeclaredTest[];
  shared: Edit[];
}

/** A file to read, with a name for each function that its turned version needs. */
export interface SourceFile {
  path: string;
  text: string;
  /** The texts of the other files of its folder, where its language has them in one namespace. */
  siblings?: string;
  /** An identifier that is in no source, another one each time. */
  freshName: () => string;
}

const TEXT_MAX = 1_000;
/** Assertions in blocks that are nested deeper are not turned. */
export const DEPTH_MAX = 30;

/** Named children without comments. */
export const children = (node: Node | null): Node[] =>
  node?.namedChildren.filter((child): child is Node => child !== null && !/comment/.test(child.type)) ?? [];

export const field = (node: Node | null, name: string): Node | null => node?.childForFieldName(name) ?? null;

/** Its text; empty where it is longer than any name. */
export const shortText = (node: Node | null): string =>
  node !== null && node.endIndex - node.startIndex <= TEXT_MAX ? node.text : '';

/** The nodes of these types in `root`, itself included; not inside of `without`. */
export function findAll(root: Node, types: ReadonlySet<string>, without: ReadonlySet<string> = new Set()): Node[] {
  const found: Node[] = [];
  const left = [root];
  for (let node = left.pop(); node; node = left.pop()) {
    if (types.has(node.type)) found.push(node);
    if (node === root || !without.has(node.type)) left.push(...children(node).toReversed());
  }
  return found;
}

export const insert = (at: number, text: string): Edit => ({ start: at, end: at, text });

/** Puts a node between two texts. */
export const wrap = (node: Node, before: string, after: string): Edit[] => [
  insert(node.startIndex, before),
  insert(node.endIndex, after),
];

export const replace = (node: Node, text: string): Edit => ({ start: node.startIndex, end: node.endIndex, text });

export const turn = (edits: Edit[], sure: boolean, neutral?: Edit[]): Turn => ({
  edits,
  sure,
  ...(neutral && { neutral }),
});

/** How an expectation is turned, and how one is written that looks the same. */
export interface Turned {
  edits: Edit[];
  neutral?: Edit[];
}

/** Tests of one name are reported as one: the worst of them counts. */
export function mergeTwins(tests: readonly DeclaredTest[]): DeclaredTest[] {
  const byName = new Map<string, DeclaredTest>();
  for (const test of tests) {
    const key = JSON.stringify(test.name);
    const twin = byName.get(key);
    byName.set(
      key,
      twin
        ? {
            ...twin,
            several: true,
            skipped: twin.skipped || test.skipped,
            turns: [...twin.turns, ...test.turns],
            marks: [...(twin.marks ?? []), ...(test.marks ?? [])],
          }
        : test,
    );
  }
  return [...byName.values()];
}
