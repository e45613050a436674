import { expect, test } from '@jest/globals';
import { drawGraph, mermaidOf, type GraphNode } from '../../../src/domain/scheduling/graph.ts';

const nodes = (spec: Record<string, string>): GraphNode[] =>
  Object.entries(spec).map(([id, needs]) => ({ id, state: null, dependsOn: needs.split(' ').filter(Boolean) }));
const drawn = (spec: Record<string, string>) =>
  drawGraph(nodes(spec)).map(
    ({ stem, node, also }) => `${stem}${node.id}${also.length ? ` (also ${also.join(' ')})` : ''}`,
  );

test('what follows one after the other stays in one column, what forks is indented', () => {
  expect(drawn({ a: '', b: 'a', c: 'b', d: 'b', e: 'd', f: '' })).toEqual(['a', '↓ b', '├─ c', '└─ d', '   ↓ e', 'f']);
});

test('a task stands once, below what comes last of what it waits for', () => {
  expect(drawn({ a: '', b: 'a', c: 'b', z: '', d: 'a c z gone' })).toEqual([
    'a',
    '↓ b',
    '↓ c',
    '↓ d (also a gone z)',
    'z',
  ]);
});

test('it is drawn the same in whatever order the server gives what a task waits for', () => {
  for (const needs of ['a b c', 'c b a', 'b c a'])
    expect(drawn({ a: '', b: '', c: '', d: needs })).toEqual(['a', 'b', 'c', '↓ d (also a b)']);
});

test('a circle is drawn, and a long chain too', () => {
  expect(drawn({ a: 'b', b: 'a' }).toSorted()).toHaveLength(2);
  const chain = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`t${n}`, n ? `t${n - 1}` : '']));
  expect(drawn(chain)).toHaveLength(5_000);
  const back = Object.fromEntries(Object.entries(chain).toReversed());
  expect(drawn(back)).toHaveLength(5_000);
});

test('mermaid text, which no id or title can end', () => {
  const text = mermaidOf([
    { id: 'end', state: 'done', dependsOn: [] },
    { id: 'b"]; click', state: 'blocked', dependsOn: ['end', 'outside'] },
  ]);
  expect(text.split('\n')).toEqual([
    'flowchart LR',
    '  t0["end<br/>done"]:::is-done',
    '  t1["b#34;#93;#59; click<br/>blocked"]:::is-blocked',
    '  o0["outside"]',
    '  t0 --> t1',
    '  o0 --> t1',
    '  classDef is-done fill:#c8e6c9',
    '  classDef is-blocked fill:#e8eaf6',
  ]);
});
