import { expect, test } from '@jest/globals';
import {
  asked,
  globsOverlap,
  granted,
  left,
  newLocks,
  news,
  type ScopeLocks,
} from '../../../src/domain/scheduling/scope-locks.ts';

const ask = (taskId: string, allow: string[], ticket = 1) => ({ taskId, allow, ticket });
const settle = (locks: ScopeLocks) => news(granted(locks), 1_000);
const ids = (list: readonly { taskId: string }[]) => list.map(({ taskId }) => taskId);
const of = (...asks: ReturnType<typeof ask>[]) => asks.reduce((locks, one) => asked(locks, one), newLocks('r'));

test("those in nobody's way go, the others wait for the first that is", () => {
  const { locks, tell } = settle(of(ask('a', ['src/**']), ask('b', ['src/x.ts']), ask('c', ['docs']), ask('d', [])));
  expect(ids(locks.holders)).toEqual(['a', 'c']);
  expect(tell.map(({ taskId, first, others }) => [taskId, first, others])).toEqual([
    ['a', null, 0],
    ['c', null, 0],
    ['b', 'a', 0],
    ['d', 'a', 1],
  ]);
});

test('nobody overtakes one who came before and overlaps', () => {
  const { locks } = settle(of(ask('a', ['src/a.ts']), ask('b', ['src/**']), ask('c', ['src/c.ts'])));
  expect(ids(locks.holders)).toEqual(['a']);
});

test('who leaves makes way; only what is new is told, and so many at a time', () => {
  const many = of(...Array.from({ length: 300 }, (_, n) => ask(`t${n}`, [])));
  const first = news(granted(many), 100);
  expect(first.tell).toHaveLength(100);
  const rest = news(first.locks, 1_000);
  expect(rest.tell).toHaveLength(200);
  expect(news(granted(rest.locks), 1_000).tell).toEqual([]);
  const after = settle(left(rest.locks, [{ taskId: 't0', ticket: 1 }]));
  expect(after.tell[0]).toMatchObject({ taskId: 't1', first: null });
});

test('an ask made anew takes the place of the older one, which can leave no more', () => {
  const { locks } = settle(of(ask('a', []), ask('b', [])));
  const anew = settle(asked(locks, ask('a', [], 2)));
  expect(ids(anew.locks.holders)).toEqual(['b']);
  expect(anew.tell).toContainEqual({ taskId: 'a', ticket: 2, first: 'b', others: 0 });
  expect(left(anew.locks, [{ taskId: 'a', ticket: 1 }])).toEqual(anew.locks);
  // The same ask again is told again.
  expect(settle(asked(anew.locks, ask('a', [], 2))).tell).toHaveLength(1);
});

test.each([
  ['src/**', 'src/a/b.ts', true],
  ['src', 'src/a.ts', true],
  ['src/*.ts', 'src/*.js', false],
  ['src/*.ts', 'src/a*.ts', true],
  ['**/*.md', 'docs/a.md', true],
  // It may be the name of a folder.
  ['**/*.md', 'docs/a.ts', true],
  ['docs/**', 'src/**', false],
  ['**', 'x', true],
  ['a/**/z', 'a/b/c/z', true],
  ['a/**/z', 'b/**/z', false],
  ['Src/A.ts', 'src/a.ts', true],
  ['src/{a,b}.ts', 'src/b.ts', true],
  ['src/{a,b}/x', 'src/c/x', true],
  ['./src/', 'src/x', true],
  ['src/[ab].ts', 'src/b.ts', true],
])('%s and %s overlap: %s', (one, other, overlap) => {
  expect([globsOverlap(one, other), globsOverlap(other, one)]).toEqual([overlap, overlap]);
});
