import { describe, expect, test } from '@jest/globals';
import { backlog, findingsOf, missedEnds, patrol, type Seen } from '../../../src/domain/produce/patrol.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const seen = (state: Seen['state'], hours: number, more: Partial<Seen> = {}): Seen => ({
  ...{ id: 't', title: 't', state, reason: null, message: null, claimable: true, waitsFor: [] },
  since: new Date(NOW - hours * 3_600_000).toISOString(),
  ...more,
});
const kinds = (task: Seen) =>
  findingsOf([task], patrol.parse({}), NOW).map(({ kind, sentence }) => `${kind}: ${sentence}`);

describe('what a person should know', () => {
  test.each([
    [
      'approval for long',
      seen('awaiting-approval', 5, { message: 'a migration' }),
      ['awaiting: has waited 5h for approval (a migration)'],
    ],
    ['approval for a while', seen('awaiting-approval', 3), []],
    ['an answer for long', seen('awaiting-answer', 4), ['awaiting: has waited 4h for an answer']],
    [
      'parked for long',
      seen('parked', 25, { reason: 'stalled', message: 'x' }),
      ['parked: has been parked for 1d 1h (stalled: x)'],
    ],
    ['parked today', seen('parked', 23), []],
    ['a silent run', seen('running', 1), ['stale: has given no sign of its run for 1h']],
    ['a live run', seen('running', 0.1), []],
    [
      'nobody can claim it',
      seen('queued', 1, { claimable: false }),
      ['unclaimed: has waited 1h, and no attached worker can claim it'],
    ],
    ['all workers are busy', seen('queued', 9), []],
    [
      'it waits for what failed',
      seen('blocked', 0, { waitsFor: [{ id: 'a', told: 'failed', state: 'failed' }] }),
      ['stuck: waits for a (failed)'],
    ],
    ['it waits', seen('blocked', 99, { waitsFor: [{ id: 'a', told: 'running', state: 'running' }] }), []],
    ['it works', seen('verifying', 5), []],
    ['it verifies for long', seen('verifying', 7), ['stale: is verifying, without a sign for 7h']],
    [
      'its delivery waits for a worker',
      seen('delivering', 6, { message: 'it is waited for' }),
      ['stale: is delivering, without a sign for 6h (it is waited for)'],
    ],
    ['checks for a while', seen('awaiting-checks', 23), []],
    ['checks for long', seen('awaiting-checks', 24), ['stale: is awaiting-checks for 1d']],
    ['a limit for long', seen('awaiting-quota', 48), ['stale: is awaiting-quota for 2d']],
  ])('%s', (_, task, expected) => {
    expect(kinds(task)).toEqual(expected);
  });

  test('the key stays while nothing changes, and is another one when it waits anew', () => {
    const [first] = findingsOf([seen('parked', 25)], patrol.parse({}), NOW);
    const [later] = findingsOf([seen('parked', 25)], patrol.parse({}), NOW + 3_600_000);
    const [anew] = findingsOf([seen('parked', 30)], patrol.parse({}), NOW);
    expect([later!.key === first!.key, anew!.key === first!.key]).toEqual([true, false]);
  });
});

test.each([
  ['an end that it was not told of', { told: 'running', state: 'done' }, ['t']],
  ['one that the server has forgotten', { told: null, state: null }, ['t']],
  ['an end that it knows of', { told: 'failed', state: 'failed' }, []],
  ['no end', { told: null, state: 'queued' }, []],
] as const)('told to look again: %s', (_, { told, state }, expected) => {
  expect(missedEnds([seen('blocked', 0, { waitsFor: [{ id: 'a', told, state }] })])).toEqual(expected);
});

test('a source of the backlog is one of three', () => {
  expect(backlog.parse([{ files: '/x' }, { github: 'a/b' }, { proposals: true }])).toHaveLength(3);
  for (const wrong of [{}, { files: '/x', github: 'a/b' }, { github: 'a' }, { proposals: false }])
    expect(backlog.safeParse([wrong]).success).toBe(false);
});
