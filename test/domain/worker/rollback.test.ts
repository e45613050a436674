import { expect, test } from '@jest/globals';
import {
  forgottenRunOf,
  forgottenRuns,
  forgottenSentence,
  openNotices,
  rollbackSentence,
  type ForgottenRun,
  type RollbackNotice,
} from '../../../src/domain/worker/rollback.ts';

const run = (taskId: string, minute: number, over: Partial<ForgottenRun> = {}): ForgottenRun => ({
  ...{ taskId, n: 1, ended: true, at: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z` },
  ...over,
});
const notice = (worker: string, ...runs: ForgottenRun[]): RollbackNotice => ({
  worker,
  hostQueue: `host/${worker}`,
  runs,
  more: 0,
});

test('what was accepted does not count any more, and what came after it does', () => {
  const notices = [notice('ada', run('b', 5), run('a', 1)), notice('bob', run('a', 2))];
  const accepted = { by: 'jo@desk', why: '', at: '2026-01-01T00:02:00.000Z' };
  expect(openNotices(notices, null)).toEqual(notices);
  expect(openNotices(notices, accepted)).toEqual([notice('ada', run('b', 5))]);
});

test('of a task the newest run is shown, whichever worker had it', () => {
  const notices = [notice('ada', run('a', 1)), notice('bob', run('a', 7, { n: 2, ended: false }))];
  expect(forgottenRuns(notices).map(({ worker }) => worker)).toEqual(['bob', 'ada']);
  expect(forgottenRunOf(notices, 'a')).toMatchObject({ worker: 'bob', n: 2, ended: false });
  expect(forgottenRunOf(notices, 'c')).toBeUndefined();
});

test('the sentences name the run, how far it was, and what to type', () => {
  const notices = [notice('ada', run('b', 5), run('a', 1, { ended: false }))];
  expect(rollbackSentence(notices)).toMatch(
    /^the Temporal server does not know of run 1 of b, which ended on worker ada at 2026-01-01T00:05:00.000Z \(and 1 more, see fleet rollback\).* fleet rollback accept /,
  );
  expect(forgottenSentence(forgottenRunOf(notices, 'a')!)).toMatch(
    /^run 1 of it was at work on worker ada at 2026-01-01T00:01:00.000Z.* fleet rollback accept/,
  );
});
