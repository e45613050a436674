import { expect, test } from '@jest/globals';
import { inboxItem } from '../../../src/domain/list/inbox.ts';

const view = { id: 'x', title: 'X', state: 'queued' as const, reason: null, message: null, runs: [] };
const question = {
  ...{ id: 'q2', text: 'Which port?', options: ["it's 80", '8080', '--all'], default: null, deadlineMs: null },
  ...{ askedAt: '2026-01-01T00:00:00Z', deadline: null },
};

test('a task that runs, or is closed, waits for no person', () => {
  expect(inboxItem(view)).toBeUndefined();
  expect(inboxItem({ ...view, state: 'done' })).toBeUndefined();
});

test('a question has one command for each option, as a shell takes it, and names itself', () => {
  expect(inboxItem({ ...view, state: 'awaiting-answer', question })).toMatchObject({
    kind: 'question',
    question: 'q2',
    commands: [
      String.raw`fleet task x answer --question q2 'it'\''s 80'`,
      'fleet task x answer --question q2 8080',
      'fleet task x answer --question q2 -- --all',
    ],
  });
  expect(inboxItem({ ...view, state: 'awaiting-answer', question: { ...question, options: [] } })?.commands).toEqual([
    `fleet task x answer --question q2 '…'`,
  ]);
});

test('an option that begins with what cannot be seen is no flag', () => {
  const hidden = { ...question, options: ['\u200b--json', '\u001b[0m--json'] };
  expect(inboxItem({ ...view, state: 'awaiting-answer', question: hidden })?.commands).toEqual([
    "fleet task x answer --question q2 -- '\u200b--json'",
    "fleet task x answer --question q2 -- '\u001b[0m--json'",
  ]);
});

test('an approval says for what', () => {
  const approval = {
    id: 'a1',
    stage: 'before-deliver' as const,
    why: 'it changes a.sql',
    since: '2026-01-01T00:00:00Z',
  };
  expect(inboxItem({ ...view, state: 'awaiting-approval', approval })).toEqual({
    ...{ id: 'x', title: 'X', kind: 'approval', text: 'approval before-deliver: it changes a.sql' },
    ...{ approval: 'a1', stage: 'before-deliver' },
    since: '2026-01-01T00:00:00Z',
    commands: ['fleet task x approve --approval a1', `fleet task x reject --approval a1 --why '…'`],
  });
});

test('a result that waits for approval can be looked at', () => {
  const approval = { id: 'a1', stage: 'before-deliver' as const, why: '', since: '2026-01-01T00:00:00Z' };
  const runs = [{ commit: 'a', endedAt: '2026-01-01T00:00:00Z', reason: null, receipts: [] }];
  expect(inboxItem({ ...view, state: 'awaiting-approval', approval, runs })?.commands[0]).toBe('fleet task x diff');
});

test('a parked task can be accepted only where a run left a result', () => {
  const parked = { ...view, state: 'parked' as const, reason: 'auth' as const };
  expect(inboxItem(parked)).toMatchObject({
    text: "auth: the coder's login or key was refused",
    commands: ['fleet task x retry', 'fleet task x give-up'],
  });
  const runs = [{ commit: 'a', endedAt: '2026-01-01T00:00:00Z', reason: null, receipts: [] }];
  expect(inboxItem({ ...parked, runs })?.since).toBe('2026-01-01T00:00:00Z');
  expect(inboxItem({ ...parked, runs, since: '2026-01-02T00:00:00Z' })?.since).toBe('2026-01-02T00:00:00Z');
  expect(inboxItem({ ...parked, runs })?.commands).toContain(`fleet task x accept --why '…'`);
});

test('where a check failed, what it printed comes first', () => {
  const run = { commit: 'a', endedAt: '2026-01-01T00:00:00Z', reason: 'receipts-rejected' as const };
  const receipts = [{ kind: 'acceptance' as const, ok: false, summary: 'failed', digest: '' }];
  const parked = { ...view, state: 'parked' as const, reason: 'receipts-rejected' as const };
  expect(inboxItem({ ...parked, runs: [{ ...run, receipts }] })?.commands[0]).toBe('fleet task x check');
  const setup = { ...run, commit: null, reason: 'setup-failed' as const, receipts: [] };
  expect(inboxItem({ ...parked, runs: [setup] })?.commands[0]).toBe('fleet task x check --setup');
  // Setup of the verification is in its log.
  expect(inboxItem({ ...parked, runs: [{ ...setup, receipts }] })?.commands[0]).toBe('fleet task x check');
});

test('what only the server knows of it is shown as far as it goes', () => {
  expect(inboxItem({ ...view, state: 'awaiting-answer', message: 'no worker answers' })).toMatchObject({
    text: 'no worker answers',
    commands: [`fleet task x answer '…'`],
  });
  expect(inboxItem({ ...view, state: 'awaiting-approval' })).toMatchObject({ kind: 'approval', since: null });
});
