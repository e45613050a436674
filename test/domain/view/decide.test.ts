import { describe, expect, test } from '@jest/globals';
import { FAILURES, type Reason } from '../../../src/domain/agent/failure.ts';
import { decide, feedbackOf, metAt, resumeFrom } from '../../../src/domain/view/decide.ts';
import type { RunView } from '../../../src/domain/view/task-view.ts';

const task = {
  retry: { maxAttempts: 3, backoff: '30s' },
  pr: { draft: false, labels: [], until: 'green' as const, tries: 3 },
};
const run = (reason: Reason, worker = 'w1') =>
  ({ reason, worker, message: reason, counts: FAILURES[reason].attempt }) as RunView;
const after = (...runs: RunView[]) =>
  decide({ task, runs, failure: { reason: runs.at(-1)?.reason ?? 'crashed', message: 'why' }, nowMs: 0 });

describe('what follows a run that was not accepted', () => {
  test('a rejected run is retried with growing backoff, and parked at the cap', () => {
    expect(after(run('receipts-rejected'))).toEqual({ next: 'retry', delayMs: 30_000 });
    expect(after(run('receipts-rejected'), run('stalled'))).toEqual({ next: 'retry', delayMs: 60_000 });
    expect(after(run('crashed'), run('crashed'), run('crashed'))).toMatchObject({ next: 'park', reason: 'crashed' });
  });

  test('infrastructure never uses up an attempt', () => {
    expect(after(run('crashed'), run('crashed'), run('host-lost'))).toEqual({ next: 'retry', delayMs: 0 });
    expect(after(run('rate-limited'), run('rate-limited'), run('rate-limited'), run('rate-limited'))).toMatchObject({
      next: 'retry',
    });
  });

  test('what no try mends is for a person, whatever its reason asks for', () => {
    for (const reason of ['machine-fault', 'repo-unavailable', 'receipts-rejected'] as const)
      expect(
        decide({ task, runs: [run(reason)], failure: { reason, message: 'why', lasting: true }, nowMs: 0 }),
      ).toEqual({ next: 'park', reason, message: 'why' });
  });

  test('a disk that is full again and again is held for a person: an agent can fill it', () => {
    const full = Array.from({ length: 5 }, () => run('disk'));
    expect(after(...full)).toMatchObject({ next: 'retry' });
    expect(after(...full, run('disk'))).toMatchObject({
      next: 'park',
      reason: 'disk',
      message: 'why (6 times in a row)',
    });
  });

  test('nothing that an agent can cause counts as infrastructure', () => {
    const agentCaused: Reason[] = [
      ...([
        'agent-error',
        'receipts-rejected',
        'stalled',
        'permission-refused',
        'timed-out',
        'over-budget',
        'context-overflow',
      ] as const),
      ...(['setup-failed', 'scope-violation', 'fabricated', 'crashed', 'out-of-memory', 'tampered'] as const),
    ];
    for (const reason of agentCaused) expect(FAILURES[reason].attempt).toBe(true);
  });

  test('an agent that waited for a person parks at once, and uses up no attempt: it would wait again', () => {
    expect(FAILURES['waiting-for-permission']).toMatchObject({ attempt: false, next: 'park' });
    expect(after(run('waiting-for-permission'))).toMatchObject({ next: 'park', reason: 'waiting-for-permission' });
  });

  test('a rate limit waits until its reset', () => {
    const until = new Date(90_000).toISOString();
    expect(
      decide({
        task,
        runs: [run('rate-limited')],
        failure: { reason: 'rate-limited', message: '', until },
        nowMs: 30_000,
      }),
    ).toEqual({
      next: 'retry',
      delayMs: 60_000,
    });
  });

  test('a pause grows, a reset time from the agent is bounded, and what lasts too long is parked', () => {
    expect(after(run('overloaded'))).toEqual({ next: 'retry', delayMs: 60_000 });
    expect(after(run('crashed'), run('overloaded'), run('overloaded'))).toEqual({ next: 'retry', delayMs: 120_000 });
    expect(after(...Array.from({ length: 20 }, () => run('overloaded')))).toEqual({
      next: 'retry',
      delayMs: 1_800_000,
    });
    expect(after(...Array.from({ length: 51 }, () => run('overloaded')))).toMatchObject({
      next: 'park',
      reason: 'overloaded',
    });
    const past = { reason: 'rate-limited', message: '', until: '1970-01-01T00:00:01Z' } as const;
    expect(decide({ task, runs: [run('rate-limited')], failure: past, nowMs: 90_000 })).toEqual({
      next: 'retry',
      delayMs: 60_000,
    });
    const failure = { reason: 'rate-limited', message: '', until: '9000-01-01T00:00:00Z' } as const;
    expect(decide({ task, runs: [run('rate-limited')], failure, nowMs: 0 })).toEqual({
      next: 'retry',
      delayMs: 8 * 86_400_000,
    });
  });

  test('after three distinct workers were lost the task is held as poison', () => {
    expect(after(run('host-lost', 'a'), run('host-lost', 'a'))).toMatchObject({ next: 'retry' });
    expect(after(run('host-lost', 'a'), run('host-lost', 'b'), run('host-lost', 'c'))).toMatchObject({
      next: 'park',
      reason: 'poison',
    });
  });

  describe("what may be one worker's own", () => {
    const local = (reason: Reason, worker: string) =>
      ({ ...run(reason, worker), local: true, counts: false }) as RunView;
    const moved = (reason: Reason) =>
      decide({ task, runs: [local(reason, 'a')], failure: { reason, message: 'why', local: true }, nowMs: 0 });

    test.each<Reason>(['repo-unavailable', 'setup-failed', 'check-cannot-start', 'coder-missing', 'machine-fault'])(
      '%s is tried at once by a worker that has not met it',
      (reason) => expect(moved(reason)).toEqual({ next: 'retry', delayMs: 0 }),
    );

    test('a machine that does not work never parks a task by itself, and its task does not come back at once', () => {
      const faults = (count: number) => Array.from({ length: count }, () => run('machine-fault', 'a'));
      expect(after(...faults(1))).toEqual({ next: 'retry', delayMs: 0 });
      expect(after(...faults(3))).toEqual({ next: 'retry', delayMs: 10_000 });
      expect(after(...faults(50))).toEqual({ next: 'retry', delayMs: 60_000 });
      expect(after(...faults(51))).toMatchObject({ next: 'park', reason: 'machine-fault' });
      expect(after(run('machine-fault', 'a'), run('machine-fault', 'b'), run('machine-fault', 'c'))).toMatchObject({
        next: 'retry',
      });
    });

    test('what kills programs on three machines that pass their check is the task', () => {
      const runs = [local('machine-fault', 'a'), local('machine-fault', 'b'), run('machine-fault', 'c')];
      expect(after(...runs)).toMatchObject({ next: 'park', reason: 'poison' });
    });

    test('those that met it since the task last got further leave it to others', () => {
      const ended = (run: RunView, endedAt: string) => ({ ...run, endedAt });
      expect(metAt([])).toBeUndefined();
      expect(
        metAt([
          ended(local('repo-unavailable', 'a'), '1'),
          ended(local('setup-failed', 'b'), '2'),
          ended(local('setup-failed', 'a'), '3'),
        ]),
      ).toEqual({ workers: ['a', 'b'], runs: 3, at: '3' });
      expect(metAt([local('setup-failed', 'a'), run('receipts-rejected', 'b')])).toBeUndefined();
      // Its own check keeps it away until it is mended.
      expect(metAt([run('machine-fault', 'a')])).toBeUndefined();
    });

    test('the work of earlier runs outlives it', () => {
      const runs = [run('stalled', 'a'), local('setup-failed', 'b')].map((one, n) => ({ ...one, runId: `${n}-x` }));
      expect(resumeFrom({}, runs as RunView[])).toMatchObject({ runIds: ['1-x', '0-x'] });
    });
  });

  test.each(Object.entries(FAILURES).filter(([, policy]) => policy.next === 'park'))('%s parks at once', (reason) => {
    expect(after(run(reason as Reason))).toMatchObject({ next: 'park', reason });
  });
});

test('the next prompt hears only of what the agent can mend', () => {
  expect(feedbackOf([run('host-lost'), run('receipts-rejected'), run('rate-limited'), run('stalled')])).toEqual([
    'receipts-rejected',
    'stalled',
  ]);
});

describe('what the next run goes on from', () => {
  const ran = (n: number, reason: Reason | null, more: Partial<RunView> = {}) =>
    ({ runId: `${n}-a`, reason, message: reason && `why ${n}`, resumedFrom: null, ...more }) as RunView;
  const on = (n: number, reason: Reason) => ran(n, reason, { resumedFrom: `${n - 1}-a`, sameSession: true });

  test.each<Reason>([
    'receipts-rejected',
    'fabricated',
    'scope-violation',
    'stalled',
    'rate-limited',
    'crashed',
    'setup-failed',
  ])('after %s the work and the conversation of the last run', (reason) => {
    expect(resumeFrom({}, [ran(1, reason)])).toEqual({ runIds: ['1-a'], why: 'why 1', spent: [] });
  });

  test('the work alone after a conversation that outgrew the model', () => {
    expect(resumeFrom({}, [ran(1, 'context-overflow')])).toMatchObject({ runIds: ['1-a'], spent: ['1-a'] });
  });

  test('the work alone after a conversation that was gone on with and failed the same way again', () => {
    const twice = [ran(1, 'receipts-rejected'), on(2, 'receipts-rejected')];
    expect(resumeFrom({}, twice)).toMatchObject({ runIds: ['2-a', '1-a'], spent: ['2-a', '1-a'] });
    // The third, in a conversation of its own, is no reason against that one; lost before it saved anything, none for theirs.
    const third = ran(3, 'receipts-rejected', { resumedFrom: '2-a' });
    expect(resumeFrom({}, [...twice, third])!.spent).toEqual(['2-a', '1-a']);
    expect(resumeFrom({}, [...twice, ran(3, 'host-lost', { resumedFrom: '2-a' })])!.spent).toEqual(['2-a', '1-a']);
    expect(resumeFrom({}, [ran(1, 'stalled'), on(2, 'receipts-rejected')])).toMatchObject({ spent: [] });
  });

  test('a limit that is met again says nothing against the conversation', () => {
    expect(resumeFrom({}, [ran(1, 'rate-limited'), on(2, 'rate-limited')])).toMatchObject({ spent: [] });
  });

  test('nothing after what spoils the work, and as the task says', () => {
    expect(resumeFrom({}, [])).toBeNull();
    expect(resumeFrom({}, [ran(1, 'stalled'), ran(2, 'tampered')])).toBeNull();
    expect(resumeFrom({ resume: false }, [ran(1, 'stalled')])).toBeNull();
    expect(resumeFrom({ resume: true }, [ran(1, 'tampered')])).toMatchObject({ runIds: ['1-a'] });
  });
});
