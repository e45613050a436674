import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCodex } from '../../src/coders/codex.ts';
import { runCoder, workspace } from '../agents/run-coder.ts';
import { only } from '../coders/recorded.ts';

/** What the real program does is tried in test/agents; here what a scripted model cannot make it do. */
const SERVER = join(import.meta.dirname, '../fixtures/agents/codex-server.mjs');
const SESSION = '01a1ffd1-5a45-7592-8682-307c7a1dcdd2';

async function play(behaviour: string, resumed = false) {
  using at = workspace();
  const file = join(at.dir, `rollout-x-${SESSION}.jsonl`);
  writeFileSync(file, '{}\n');
  const coder = createCodex({ command: [process.execPath, SERVER, behaviour] });
  return await runCoder(coder, at, { env: {}, ...(resumed ? { resume: { id: SESSION, file } } : {}) });
}

test('what it asks to be allowed is allowed, and an earlier run’s tokens are not this one’s', async () => {
  const { events, exitCode } = await play('works', true);
  expect(exitCode).toBe(0);
  expect(only(events, 'tool-call')).toMatchObject([{ id: 'call_1', name: 'command_execution', input: 'git push' }]);
  expect(only(events, 'tool-result')).toMatchObject([{ id: 'call_1', ok: true, output: 'acceptForSession' }]);
  expect(only(events, 'usage').map(({ input, output }) => [input, output])).toEqual([
    [700, 40],
    [800, 10],
  ]);
  expect(events.at(-1)).toEqual({ type: 'ended', ok: true, text: 'All done.' });
});

test('a call that it refuses, of which no item tells, is a call that failed; others are told once', async () => {
  const { events } = await play('refuses');
  const calls = events.filter(({ type }) => type === 'tool-call' || type === 'tool-result');
  expect(calls).toEqual([
    { type: 'tool-call', id: 'call_1', name: 'command_execution', input: 'rm -f x' },
    { type: 'tool-result', id: 'call_1', ok: false, output: expect.stringContaining('not permitted') },
    { type: 'tool-call', id: 'call_2', name: 'command_execution', input: 'ls' },
    { type: 'tool-result', id: 'call_2', ok: true, output: 'x' },
  ]);
});

test('a question to the user is reported', async () => {
  const { events } = await play('question');
  expect(only(events, 'waiting')).toEqual([{ type: 'waiting', what: 'an answer to: Which database?' }]);
});

test('a used up window names its reset, by the code of the error and not its words', async () => {
  const { events, exitCode } = await play('limited');
  expect(exitCode).toBe(1);
  expect(only(events, 'rate-limited')).toEqual([{ type: 'rate-limited', until: '2031-01-01T00:00:00.000Z' }]);
  expect(events.at(-1)).toMatchObject({ type: 'ended', ok: false, failure: 'rate-limited', text: 'You are out of it' });
});
