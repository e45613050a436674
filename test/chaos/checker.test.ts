import { describe, expect, test } from '@jest/globals';
import { check } from './checker.ts';
import type { Entry, Event } from './history.ts';

const run = (runId: string, reason: 'host-lost' | 'crashed' | null = null) => ({
  runId,
  reason,
  counts: reason !== 'host-lost',
});
const life = (taskId: string, runId: string, times: { from: number; to: number; starts?: number }): Event => ({
  kind: 'life',
  life: { taskId, runId, starts: 1, ...times },
});
const enqueue = (id: string, answer: 'ok' | 'unknown' = 'ok'): Event => ({
  kind: 'operation',
  what: 'enqueue',
  id,
  answer,
});
const done = (id: string, runs = [run('1-a')]): Event => ({ kind: 'final', id, state: 'done', used: 1, runs });
const delivered = (id: string, by = '1-a', commit = `commit of ${id}`): Event => ({
  kind: 'delivered',
  id,
  commit,
  by,
});
const verdict = (...events: (Event & { at?: number })[]) =>
  check(events.map((event, i) => ({ at: i, ...event }) as Entry));

const good: Event[] = [
  enqueue('a'),
  enqueue('b'),
  enqueue('c', 'unknown'),
  enqueue('d', 'unknown'),
  { kind: 'seen', id: 'a', state: 'running' },
  life('a', '1-a', { from: 1, to: 4 }),
  life('a', '2-a', { from: 20, to: 24 }),
  delivered('a', '2-a'),
  done('a', [run('1-a', 'host-lost'), run('2-a')]),
  { kind: 'final', id: 'b', state: 'cancelled', used: 0, runs: [] },
  delivered('c'),
  done('c'),
];

test('a history without fault: what was lost on the way cost nothing', () => {
  expect(verdict(...good)).toEqual({
    acknowledged: 2,
    indeterminate: { there: 1, missing: 1 },
    ended: { done: 2, cancelled: 1 },
    runs: 3,
    lostRuns: 1,
    lateSleepers: 0,
    violations: [],
  });
});

describe('each planted violation is found, and named', () => {
  const late = (to: number) => [
    ...good,
    life('c', '1-a', { from: 100, to }),
    life('c', '2-a', { from: 120, to: 160 }),
    { kind: 'wake', site: 0, at: 140 } as const,
  ];

  test.each<[string, (Event & { at?: number })[], string[]]>([
    ['a task is gone', [...good, enqueue('x')], ['lost: x was acknowledged']],
    [
      'a task never ends',
      [...good, enqueue('x'), { kind: 'final', id: 'x', state: 'running', used: 0, runs: [] }],
      ['stuck: x is running after everything was healed'],
    ],
    [
      'a task ends twice',
      [...good, { kind: 'seen', id: 'b', state: 'done' }],
      ['ended twice: b was cancelled, then done'],
    ],
    [
      'two agents at once, as they say themselves',
      [...good, life('a', '3-a', { from: 23, to: 30 })],
      ['two live agents of a: 2-a and 3-a'],
    ],
    [
      'two agents at once, as the host sees it',
      [...good, { kind: 'together', id: 'a', runIds: ['1-a', '2-a'] }],
      ['two live agents of a seen at once: 1-a and 2-a'],
    ],
    ['an agent works on long after its machine woke up', late(148), ['two live agents of c: 1-a and 2-a']],
    [
      'a run is launched twice',
      [...good, life('c', '1-a', { from: 1, to: 2, starts: 2 })],
      ['launched 2 times: run 1-a of c'],
    ],
    ['a result is never delivered', [...good, enqueue('x'), done('x')], ['delivered 0 times: x']],
    ['a result is delivered twice', [...good, delivered('a', '2-a', 'other')], ['delivered 2 times: a']],
    [
      'the result of a lost run is delivered',
      [...good, enqueue('x'), delivered('x', '1-a'), done('x', [run('1-a', 'host-lost'), run('2-a')])],
      ['delivered by 1-a, accepted was 2-a: x'],
    ],
    [
      'a parked task delivers',
      [...good, enqueue('x'), { kind: 'final', id: 'x', state: 'parked', used: 1, runs: [] }, delivered('x')],
      ['stuck: x is parked after everything was healed', 'delivered, and parked: x'],
    ],
    [
      'a task that goes on delivers between the looks at it and at the branches: it is stuck, and no more',
      [
        ...good,
        enqueue('x'),
        { kind: 'final', id: 'x', state: 'delivering', used: 1, runs: [run('1-a')] },
        delivered('x'),
      ],
      ['stuck: x is delivering after everything was healed'],
    ],
    ['a cancelled task delivers', [...good, delivered('b')], ['delivered, and cancelled: b']],
    ['a task that nobody made delivers', [...good, delivered('x')], ['delivered, and unknown: x']],
    [
      'two runs are accepted',
      [...good, enqueue('x'), delivered('x'), done('x', [run('1-a'), run('2-a')])],
      ['accepted 2 times: x'],
    ],
    [
      'a lost worker uses up an attempt',
      [
        ...good,
        enqueue('x'),
        delivered('x', '2-a'),
        done('x', [{ runId: '1-a', reason: 'host-lost', counts: true }, run('2-a')]),
      ],
      ['an attempt for a lost worker: run 1-a of x'],
    ],
    ['something is left', [...good, { kind: 'stray', what: 'pid 7' }], ['stray: pid 7']],
  ])('%s', (_, history, violations) => {
    expect(verdict(...history).violations).toEqual(violations);
  });

  test('an agent that is ended in time after its machine woke up is none', () => {
    expect(verdict(...late(145))).toMatchObject({ lateSleepers: 1, violations: [] });
  });
});
