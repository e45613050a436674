import { expect } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addUsage, NO_USAGE, type AgentEvent, type CoderFailure } from '../../../src/domain/agent/event.ts';
import { startModelServer, type FailKind, type Turn } from '../../helpers/model-server.ts';
import { until } from '../../helpers/until.ts';
import { only, runCoder, workspace } from '../run-coder.ts';
import { HELLO } from '../scenario.ts';
import { play, record, start } from './play.ts';
import { inherited } from './context-row.ts';
import { killedAndResumed, resumed } from './resume-rows.ts';
import type { Subject } from './subject.ts';

/** What "supports a coder" means, row by row. Each throws where the coder fails it. */
export const ROWS = {
  task: { title: 'finishes a task with a file edit, a shell command and a commit', run: task },
  stream: { title: 'its text, tool calls, results and usage become events', run: stream },
  resume: { title: 'goes on in its session, in another HOME and worktree', run: resumed },
  killed: { title: 'killed in mid tool call (SIGKILL of its process group), it is resumed', run: killedAndResumed },
  auth: fails('auth', 'auth', '401'),
  billing: fails('billing', 'auth', 'no credit'),
  rate: fails('rate', 'rate-limited', '429'),
  reset: { title: '429 with a time of reset → `rate-limited` until then', run: reset },
  overloaded: fails('overloaded', 'overloaded', '529 or 503'),
  server: fails('server', 'overloaded', '500'),
  offline: { title: 'nobody answers at the address of the model → `overloaded`', run: offline },
  overflow: fails('overflow', 'context-overflow', 'the context overflows at once'),
  late: { title: 'the context overflows after work → `context-overflow`, and the work counts', run: lateOverflow },
  silent: { title: 'a model that never answers: it stays live and silent', run: (s) => quiet(s, SILENT) },
  midway: { title: 'a model that answers half and stops: it stays live and silent', run: (s) => quiet(s, MIDWAY) },
  cut: {
    title: 'an answer cut off in its middle: it asks again and does the task, or ends as `overloaded`',
    run: cutOff,
  },
  context: {
    title: 'of others it finds the instructions that `context.inherit` lets in, and nothing else',
    run: inherited,
  },
} as const satisfies Record<string, { title: string; run(subject: Subject): Promise<void> }>;

export type Row = keyof typeof ROWS;

/** Longer than it takes a CLI to answer or to give up a refused request. */
const QUIET_MS = 4_000;
const SILENT: Turn = { stall: 'silent', times: Infinity };
const HALF = 'This is the first half of what I wanted to say';
const MIDWAY: Turn = { text: HALF, stall: 'midway', times: Infinity };

const failedRun = (failure: CoderFailure) => ({ type: 'ended', ok: false, failure });
const text = (events: readonly AgentEvent[]) =>
  only(events, 'text')
    .map((event) => event.text)
    .join('');

async function task(subject: Subject): Promise<void> {
  using at = workspace();
  const { run, requests } = await play(subject, HELLO, { at });
  record(subject, 'done', run, at);
  expect({ exitCode: run.exitCode, stderr: run.exitCode ? run.stderr : '' }).toEqual({ exitCode: 0, stderr: '' });
  expect(run.events.at(-1)).toEqual({ type: 'ended', ok: true, text: 'All done: hello.txt is committed.' });
  expect(readFileSync(join(at.tree, 'hello.txt'), 'utf8')).toBe('hello from the agent\n');
  expect(at.git('log', '--format=%s')).toBe('Add hello.txt\nbase\n');
  expect(at.git('status', '--porcelain', '--ignored')).toBe('');
  expect(requests.filter(({ turn }) => turn === null).map(({ path }) => path)).toEqual([]);
  expect(requests[0]?.body).toContain('Please add hello.txt.');
}

async function stream(subject: Subject): Promise<void> {
  using at = workspace();
  const { run } = await play(subject, HELLO, { at });
  expect(run.events[0]).toMatchObject({ type: 'started', session: expect.stringMatching(/^\S{8,}$/) });
  const calls = only(run.events, 'tool-call');
  const results = only(run.events, 'tool-result');
  expect(calls).toHaveLength(subject.calls ?? 3);
  expect(results.map(({ id, ok }) => ({ id, ok }))).toEqual(calls.map(({ id }) => ({ id, ok: true })));
  expect(calls.at(-1)?.input).toContain('git commit');
  expect(results.at(-1)?.output).toContain('Add hello.txt');
  for (const turn of HELLO) expect(text(run.events)).toContain(turn.text ?? '');
  const usage = only(run.events, 'usage').reduce(addUsage, NO_USAGE);
  expect(usage).toMatchObject(subject.usage ?? { inputTokens: 4_600, cachedTokens: 3_100, outputTokens: 140 });
}

function fails(fail: FailKind, failure: CoderFailure, what: string) {
  const run = async (subject: Subject): Promise<void> => {
    using at = workspace();
    const turn: Turn = { fail, resetSeconds: 1, times: Infinity };
    if (isSlow(subject, fail)) return quiet(subject, turn);
    const { run: failed } = await play(subject, [turn], { at });
    record(subject, fail, failed, at);
    ended(subject, failed.exitCode);
    expect(failed.events.at(-1)).toMatchObject(failedRun(failure));
    expect(only(failed.events, 'ended')).toHaveLength(1);
  };
  return { title: `${what} → \`${failure}\``, run };
}

function ended({ failedExit = 1 }: Subject, exitCode: number | null): void {
  if (failedExit !== null) expect(exitCode).toBe(failedExit);
}

/** In the CLI's own words; the run's proxy knows it from the wire in any case. */
async function reset(subject: Subject): Promise<void> {
  using at = workspace();
  const { run } = await play(subject, [{ fail: 'quota', resetSeconds: 3_600, times: Infinity }], { at });
  record(subject, 'quota', run, at);
  expect(run.events.at(-1)).toMatchObject(failedRun('rate-limited'));
  const [limited] = only(run.events, 'rate-limited');
  expect(Date.parse(limited?.until ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
}

const isSlow = ({ slow = [] }: Subject, row: string): boolean =>
  !process.env['RECORD'] && slow.some((one) => one === row);

async function offline(subject: Subject): Promise<void> {
  using at = workspace();
  await using server = await startModelServer();
  const { coder, ...setup } = subject.setup(server.url());
  await server[Symbol.asyncDispose]();
  if (isSlow(subject, 'offline')) return;
  const run = await runCoder(coder, at, setup);
  record(subject, 'offline', run, at);
  expect(run.events.at(-1)).toMatchObject(failedRun('overloaded'));
}

async function lateOverflow(subject: Subject): Promise<void> {
  using at = workspace();
  const { run } = await play(subject, [...HELLO.slice(0, 2), { fail: 'overflow', times: Infinity }], { at });
  record(subject, 'late-overflow', run, at);
  expect(run.events.at(-1)).toMatchObject(failedRun('context-overflow'));
  expect(only(run.events, 'tool-result')).toHaveLength(Math.min(2, subject.calls ?? 2));
}

/** The worker's own limit of silence ends such a run as `stalled`. */
async function quiet(subject: Subject, turn: Turn): Promise<void> {
  using at = workspace();
  await using server = await startModelServer([turn]);
  await using live = start(subject, server, { at });
  const asked = () => server.requests.some((request) => request.turn !== null);
  await until(() => asked() || live.over(), { timeoutMs: 60_000 });
  const since = performance.now();
  await until(() => live.over() || performance.now() - since > QUIET_MS, { timeoutMs: 2 * QUIET_MS });
  expect({ over: live.over(), stderr: live.over() ? live.run.stderr : '' }).toEqual({ over: false, stderr: '' });
  expect(live.run.events.filter(({ type }) => type !== 'started' && type !== 'text')).toEqual([]);
  expect(HALF.startsWith(text(live.run.events))).toBe(true);
}

async function cutOff(subject: Subject): Promise<void> {
  using at = workspace();
  const { run } = await play(subject, [{ text: HALF, stall: 'cut' }, ...HELLO], { at });
  if (subject.endsWhenCut) return void expect(run.events.at(-1)).toMatchObject(failedRun('overloaded'));
  expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: true, text: 'All done: hello.txt is committed.' });
  expect(at.git('log', '--format=%s')).toBe('Add hello.txt\nbase\n');
}
