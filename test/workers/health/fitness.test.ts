import { afterEach, expect, test } from '@jest/globals';
import type { Attached } from '../../../src/activities/worker/services.ts';
import type { Failure } from '../../../src/domain/agent/failure.ts';
import { FitnessGuard } from '../../../src/workers/health/fitness.ts';

const guards: FitnessGuard[] = [];
afterEach(() => Promise.all(guards.splice(0).map((guard) => guard.stop())));

/** A guard whose machine works, and the causes for which it takes nothing in. */
function guard() {
  const held = new Map<string, string>();
  const holds = {
    has: (cause: string) => held.has(cause),
    set: (cause: string, why: string | null) => (why === null ? held.delete(cause) : held.set(cause, why)),
  };
  const made = new FitnessGuard({ holds, log: () => {} } as never);
  guards.push(made);
  return { guard: made, held };
}

const local: Failure = { reason: 'setup-failed', message: 'no' };
const fault: Failure = { reason: 'machine-fault', message: 'git was ended by SIGSEGV' };
const beside = (view: object | null) => [{ name: 'B', view }] as unknown as Attached[];
const better = beside({ provedAt: new Date().toISOString() });
const of = (taskId: string, repo = 'r1') => ({ taskId, repo });

test('three tasks of two repositories that end so, where another worker has lately done its work, let it rest', () => {
  const { guard: fitness, held } = guard();
  fitness.met(local, of('t1'), better);
  fitness.met(local, of('t2', 'r2'), better);
  expect(held.size).toBe(0);
  fitness.met(local, of('t3'), better);
  expect([...held.keys()]).toEqual(['runs']);
  fitness.proved();
  expect(held.size).toBe(0);
  expect(fitness).toMatchObject({ inARow: 0, provedAt: expect.any(String) });
});

test('one task, or one repository, keeps the worker from no other', () => {
  const { guard: fitness, held } = guard();
  for (let n = 0; n < 5; n += 1) fitness.met(fault, of('t1', `r${n}`), better);
  expect(held.size).toBe(0);
  const other = guard();
  for (let n = 0; n < 5; n += 1) other.guard.met(local, of(`t${n}`), better);
  expect(other.held.size).toBe(0);
});

test('programs that die under three tasks need no second repository, and nobody that does better', () => {
  const { guard: fitness, held } = guard();
  for (const id of ['t1', 't2', 't3']) fitness.met(fault, of(id), []);
  expect([...held.keys()]).toEqual(['runs']);
});

test.each<[string, object | null]>([
  ['has said nothing', null],
  ['has run nothing', {}],
  ['meets the same', { provedAt: new Date().toISOString(), failedInARow: 1 }],
  ['has run something long ago', { provedAt: '2020-01-01T00:00:00Z' }],
])('another worker that %s does no better', (_what, view) => {
  const { guard: fitness, held } = guard();
  for (let n = 0; n < 5; n += 1) fitness.met(local, of(`t${n}`, `r${n}`), beside(view));
  expect(held.size).toBe(0);
});
