import { expect, test } from '@jest/globals';
import { waitingSentence } from '../../src/client/explain/explain-waiting.ts';
import type { TaskReport } from '../../src/client.ts';
import type { Dependency } from '../../src/domain/people/waiting.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const said = (over: Partial<TaskReport>) =>
  waitingSentence({ id: 'x', message: null, runs: [], ...over } as unknown as TaskReport, NOW);
const dependency = (id: string, over: Partial<Dependency> = {}): Dependency => ({
  ...{ id, state: null, reason: null, message: null, repo: null, commit: null },
  ...over,
});

test('a task that waits for others names those that are left, one by one, and how to go on without', () => {
  const dependsOn = [
    dependency('a', { state: 'done' }),
    dependency('b', { state: 'running' }),
    dependency('c', { state: 'failed', reason: 'timed-out', message: 'given up: no use' }),
    dependency('d', { state: 'parked', reason: 'auth', message: 'no login' }),
    dependency('e', { state: 'cancelled', message: 'terminated' }),
    dependency('f'),
  ];
  expect(said({ state: 'blocked', dependsOn })).toBe(
    'it waits for b, which is running; c, which failed (timed-out: given up: no use); d, which is parked (auth: no login); ' +
      'e, which was terminated; f, which has not said yet how it is: fleet task x needs --drop c,d,e lets it go on without',
  );
  expect(said({ state: 'blocked', dependsOn: dependsOn.slice(0, 2) })).toBe('it waits for b, which is running');
  expect(said({ state: 'blocked', message: 'waits for y, which changes the same paths' })).toBe(
    'waits for y, which changes the same paths',
  );
});

test('an approval says for what, since when, and what to type', () => {
  const approval = {
    id: 'a1',
    stage: 'before-deliver' as const,
    why: 'it changes a.sql',
    since: '2026-01-01T00:05:00Z',
  };
  expect(said({ state: 'awaiting-approval', approval })).toBe(
    "its result waits for a person to approve it before it is delivered, for 5m (it changes a.sql): fleet task x approve, or reject --why '…'",
  );
  expect(said({ state: 'awaiting-approval', approval: { ...approval, stage: 'before-run' } })).toContain(
    'before it runs',
  );
  // Where no worker answers, nobody knows for what.
  expect(said({ state: 'awaiting-approval', message: 'proposed by y' })).toBe(
    "it waits for a person to approve it (proposed by y): fleet task x approve, or reject --why '…'",
  );
});

test('a question says what it offers, what counts without an answer, and what to type', () => {
  const question = {
    ...{ id: 'q1', text: 'Which port?', options: ['80', '8080'], default: '80', deadlineMs: 3_600_000 },
    ...{ askedAt: '2026-01-01T00:00:00Z', deadline: '2026-01-01T01:00:00Z' },
  };
  expect(said({ state: 'awaiting-answer', question })).toBe(
    'its agent asks (q1, for 10m): Which port?, offering 80, 8080; in 50m 80 counts as the answer; it holds no slot meanwhile: fleet task x answer --question q1 80',
  );
  const open = { ...question, options: [], default: null, deadline: null };
  expect(said({ state: 'awaiting-answer', question: open })).toBe(
    "its agent asks (q1, for 10m): Which port?; it holds no slot meanwhile: fleet task x answer --question q1 '…'",
  );
  expect(said({ state: 'awaiting-answer', question: { ...question, default: null } })).toContain('in 50m it is parked');
});

test('a task for an agent outside the fleet says for whom, and who holds it until when', () => {
  expect(said({ state: 'queued', for: 'jean', message: 'waits for jean' })).toBe(
    'it is for jean, an agent outside the fleet, and no worker claims it (waits for jean): fleet claim x --as jean',
  );
  const outside = { as: 'jean', until: '2026-01-01T00:30:00Z' };
  expect(said({ state: 'running', for: 'jean', outside })).toBe(
    'jean, outside the fleet, holds it for 20m more: then it waits for jean again, unless the lease is renewed',
  );
  // Handed in: what it waits for now is a worker that verifies it.
  const handedIn = { as: 'jean', result: 'done', commit: 'a' };
  expect(said({ state: 'queued', for: 'jean', handedIn })).toBeUndefined();
});

test('quota and checks say that no slot is held', () => {
  expect(said({ state: 'awaiting-quota', message: 'all seats rest until noon' })).toBe(
    'it holds no slot and waits: all seats rest until noon',
  );
  const pull = { url: 'https://x/pull/1', number: 1, checks: 'pending' as const, state: 'open' as const };
  expect(said({ state: 'awaiting-checks', pull })).toBe(
    'it holds no slot and waits: for its pull request (https://x/pull/1, checks pending)',
  );
});

test('what works, or is closed, waits for nothing', () => {
  expect(said({ state: 'running' })).toBeUndefined();
  expect(said({ state: 'done' })).toBeUndefined();
});
