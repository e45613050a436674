import { OPEN_STATES, type TaskState } from '../task/state.ts';

/** How tasks wait for each other, drawn. */

export interface GraphNode {
  id: string;
  /** Null: it is not in the queue yet, or the server does not know it. */
  state: TaskState | null;
  dependsOn: readonly string[];
}

export interface DrawnLine<N extends GraphNode> {
  /** `│  ├─ ` */
  stem: string;
  node: N;
  /** Dependencies that it does not stand below. */
  also: string[];
}

/**
 * One line a task, below the dependency that comes last; what follows one after the other stays in one column. A circle is
 * drawn once.
 */
export function drawGraph<N extends GraphNode>(nodes: readonly N[]): DrawnLine<N>[] {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const rank = ranksOf(known);
  const below = new Map<string, N[]>();
  const roots: N[] = [];
  for (const node of nodes) {
    const parent = parentOf(node, { known, rank });
    if (parent === undefined) roots.push(node);
    else below.set(parent, [...(below.get(parent) ?? []), node]);
  }
  const lines: DrawnLine<N>[] = [];
  const walk = (first: N, stem: string, rest: string): void => {
    let [node, before]: [N, string] = [first, stem];
    for (;;) {
      const parent = parentOf(node, { known, rank });
      lines.push({ stem: before, node, also: node.dependsOn.filter((id) => id !== parent).toSorted() });
      const children = below.get(node.id) ?? [];
      const [only] = children;
      if (children.length !== 1 || !only) {
        for (const [index, child] of children.entries()) {
          const last = index === children.length - 1;
          walk(child, `${rest}${last ? '└─ ' : '├─ '}`, `${rest}${last ? '   ' : '│  '}`);
        }
        return;
      }
      [node, before] = [only, `${rest}↓ `];
    }
  };
  for (const root of roots) walk(root, '', '');
  return lines;
}

interface Known {
  known: ReadonlyMap<string, GraphNode>;
  rank: ReadonlyMap<string, number>;
}

/** The dependency to draw it below: the one that the longest way leads to; of several the last by name, in whatever order they are listed. */
function parentOf({ id, dependsOn }: GraphNode, { known, rank }: Known): string | undefined {
  const own = rank.get(id)!;
  return dependsOn
    .filter((other) => known.has(other) && rank.get(other)! < own)
    .toSorted((a, b) => rank.get(b)! - rank.get(a)! || (a < b ? 1 : -1))[0];
}

/** How many stand before each, on the longest way. Without recursion: chains are long. */
function ranksOf(known: ReadonlyMap<string, GraphNode>): Map<string, number> {
  const rank = new Map<string, number>();
  const begun = new Set<string>();
  for (const start of known.keys()) {
    const stack = [start];
    for (let id = stack.at(-1); id !== undefined; id = stack.at(-1)) {
      const needs = known.get(id)!.dependsOn.filter((other) => known.has(other));
      const open = begun.has(id) ? [] : needs.filter((other) => !rank.has(other) && !begun.has(other));
      begun.add(id);
      if (open.length > 0) {
        stack.push(...open);
        continue;
      }
      stack.pop();
      if (!rank.has(id)) rank.set(id, 1 + Math.max(-1, ...needs.map((other) => rank.get(other) ?? -1)));
    }
  }
  return rank;
}

/** Those that are open, and all that they wait for. */
export function relevant<N extends GraphNode>(nodes: readonly N[]): N[] {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const kept = new Set(nodes.filter(({ state }) => OPEN_STATES.some((open) => open === state)));
  for (const node of kept)
    for (const id of node.dependsOn) {
      const other = known.get(id);
      if (other) kept.add(other);
    }
  return nodes.filter((node) => kept.has(node));
}

/** Mermaid's text, to paste where it is drawn. Nothing in an id or a title can end a label. */
export function mermaidOf(nodes: readonly GraphNode[]): string {
  const number = new Map(nodes.map(({ id }, index) => [id, `t${index}`]));
  const outside = [...new Set(nodes.flatMap(({ dependsOn }) => dependsOn.filter((id) => !number.has(id))))];
  for (const [index, id] of outside.entries()) number.set(id, `o${index}`);
  const states = [...new Set(nodes.flatMap(({ state }) => state ?? []))];
  return [
    'flowchart LR',
    ...nodes.map(
      ({ id, state }) => `  ${number.get(id)}["${escaped(id)}${state ? `<br/>${state}` : ''}"]${classOf(state)}`,
    ),
    ...outside.map((id) => `  ${number.get(id)}["${escaped(id)}"]`),
    ...nodes.flatMap(({ id, dependsOn }) => dependsOn.map((other) => `  ${number.get(other)} --> ${number.get(id)}`)),
    ...states.flatMap((state) => (FILLS[state] ? `  classDef ${classNameOf(state)} fill:${FILLS[state]}` : [])),
  ].join('\n');
}

const FILLS: Partial<Record<TaskState, string>> = {
  done: '#c8e6c9',
  failed: '#ffcdd2',
  cancelled: '#eeeeee',
  parked: '#fff3c4',
  blocked: '#e8eaf6',
  running: '#b3e5fc',
};
/** `end` and the like are words of mermaid's. */
const classNameOf = (state: TaskState): string => `is-${state}`;
const classOf = (state: TaskState | null): string => (state && FILLS[state] ? `:::${classNameOf(state)}` : '');
const escaped = (text: string): string => text.replace(/[^A-Za-z0-9 ._-]/gu, (char) => `#${char.codePointAt(0)};`);
