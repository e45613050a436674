import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from '@jest/globals';
import type { Deps } from '../../src/activities/worker/context.ts';
import type { Attached } from '../../src/activities/worker/services.ts';
import { onSoundMachine } from '../../src/activities/worker/blame.ts';
import { isForOthers, othersFor } from '../../src/activities/worker/others.ts';
import type { Met, Wanting } from '../../src/domain/run/claim.ts';
import type { Failure } from '../../src/domain/agent/failure.ts';
import { metAt } from '../../src/domain/view/decide.ts';
import type { RunView } from '../../src/domain/view/task-view.ts';

const MINUTE = 60_000;
const NOW = Date.parse('2026-01-01T12:00:00Z');
const agoMs = (ms: number) => new Date(NOW - ms).toISOString();
const other = (name: string, coders: readonly string[], view: object = {}) =>
  ({
    ...{ name, machine: 'm', hostQueue: `host/${name}`, queues: ['fleet'] },
    coders: coders.map((coder) => ({ name: coder, version: null })),
    view: { closed: [], credentials: [], budgets: [], ...view },
  }) as unknown as Attached;
const codex: Wanting = { queue: 'fleet', repo: null, coder: 'codex' };

/** Worker A, and those beside it. */
const deps = (...beside: Attached[]) =>
  ({
    worker: { name: 'A', machine: 'm', hostQueue: 'host/A' },
    attached: () => Promise.resolve([other('A', ['codex']), ...beside]),
    fitness: { fault: () => Promise.resolve(undefined), met: () => {} },
  }) as unknown as Deps;
const met = (at: string, runs = 1): Met => ({ workers: ['A'], runs, at });
const leaves = (wanting: Wanting, ...beside: Attached[]) =>
  new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: NOW }).run(() =>
    isForOthers(deps(...beside), wanting),
  );

describe('another worker that could have a run', () => {
  test.each<[string, Attached, Partial<Wanting>]>([
    ['has the coder that a rule chose', other('B', ['claude']), {}],
    ['has any coder at all', other('B', []), { coder: undefined as never }],
    ['has the credential that the task pins', other('B', ['codex']), { credential: 'team' }],
    [
      'has a credential that is not refused',
      other('B', ['codex'], { closed: [{ coder: 'codex', why: 'refused' }] }),
      {},
    ],
    [
      'has money left',
      other('B', ['codex'], { budgets: [{ name: 'budgets[0]', said: 'used up', until: agoMs(0) }] }),
      {},
    ],
    ['takes from that queue', { ...other('B', ['codex']), queues: ['night'] }, {}],
    ['reaches the path', { ...other('B', ['codex']), machine: 'n' }, { repo: '/srv/repo' }],
  ])('%s', async (_what, beside, more) => {
    const { coder, ...rest } = { ...codex, ...more };
    const wanting = { ...rest, ...(coder === undefined ? {} : { coder }), met: met(agoMs(0)) };
    expect(await othersFor(deps(beside), wanting)).toEqual([]);
    expect(await leaves(wanting, beside)).toBe(false);
    const view = { credentials: ['team'] };
    expect(await leaves(wanting, beside, other('C', ['codex'], view))).toBe(true);
  });

  test('may be full: its slots, and the seats of its credentials, get free', async () => {
    const full = other('B', ['codex'], { closed: [{ coder: 'codex', why: 'full', full: true }] });
    expect(await leaves({ ...codex, met: met(agoMs(MINUTE)) }, full)).toBe(true);
  });

  test('is not waited for longer than some minutes', async () => {
    const B = other('B', ['codex']);
    expect(await leaves({ ...codex, met: met(agoMs(MINUTE)) }, B)).toBe(true);
    expect(await leaves({ ...codex, met: met(agoMs(6 * MINUTE)) }, B)).toBe(false);
  });

  test('needs no coder for what an agent outside the fleet has handed in', async () => {
    expect(await othersFor(deps(other('B', [])), { ...codex, coder: 'outside:ada' })).toHaveLength(1);
  });
});

test('one worker that meets it again and again, beside one that never takes it, ends after three runs', async () => {
  const runs: RunView[] = [];
  const failure: Failure = { reason: 'setup-failed', message: 'no' };
  const locals = [];
  for (let n = 1; n <= 4; n += 1) {
    const seen = metAt(runs);
    const wanting: Wanting = { ...codex, ...(seen ? { met: seen } : {}) };
    const answer = (await new MockActivityEnvironment().run(() =>
      onSoundMachine(deps(other('B', ['codex'])), () => Promise.resolve({ ok: false as const, failure }), {
        taskId: 't1',
        wanting,
      }),
    )) as { failure: Failure };
    const local = answer.failure.local === true;
    locals.push(local);
    const run = { reason: failure.reason, worker: 'A', endedAt: agoMs(0), ...(local ? { local: true } : {}) };
    runs.push(run as RunView);
  }
  expect(locals).toEqual([true, true, false, false]);
});
