import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { processTable, withDescendants } from '../../src/adapters/program/process.ts';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import type { LiveAgent } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';

/** Rows F12 to F18, F33 and F36: what an agent's processes do, and what is left of them. */

const script = (text: string) => ({ command: ['sh', '-c', text], protocol: 'none' as const });
/** Control groups of version 1, which freeze a process so that nothing ends it, are for root alone. */
const canFreeze = process.getuid!() === 0 && existsSync('/sys/fs/cgroup/freezer/cgroup.procs');
const canLimit = process.getuid!() === 0 && existsSync('/sys/fs/cgroup/pids/cgroup.procs');
if (!canFreeze || !canLimit) console.warn('F15 to F17 are skipped: they need root and control groups of version 1');

let fleet: TestFleet;
let worker: TestWorker;

beforeAll(async () => {
  fleet = await TestFleet.start();
  worker = await fleet.worker('processes', {
    worker: { slots: 12 },
    coders: {
      wait: agent('wait-for-file.sh'),
      stubborn: agent('stubborn.sh'),
      daemonise: agent('daemonise.sh'),
      silent: agent('silent.sh'),
      busy: agent('busy.sh'),
      bomb: script('bomb() { bomb | bomb & }; while :; do bomb; done'),
      greedy: script('head -c 500000000 /dev/zero | tail -c 400000000 > tail'),
    },
  });
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const ONCE = { retry: { maxAttempts: 1 } };
let repos = 0;
async function enqueue(input: Partial<TaskInput>): Promise<string> {
  repos += 1;
  return fleet.fleet.enqueue({ objective: 'Add made.txt', repo: await fleet.repo(`repo-${repos}`), ...input });
}
const drain = async (input: Partial<TaskInput>): Promise<TaskReport> => fleet.settled(await enqueue(input), 200_000);
const marked = (id: string, { home } = worker) => strays(`${home}/runs/${id}/`);
const exitOf = ({ receipts }: TaskReport) => receipts.find(({ kind }) => kind === 'exit');
const stateIs = (id: string, state: string, timeoutMs = 60_000) =>
  until(async () => (await fleet.fleet.view(id)).state === state, { timeoutMs });

test.concurrent('F12: kill -9 of the agent is a crash, uses an attempt, and is retried', async () => {
  const id = await enqueue({ coder: 'wait', retry: { maxAttempts: 2, backoff: '1s' } });
  const first = await fleet.running(id);
  process.kill(first.pid, 'SIGKILL');
  const { work } = await fleet.running(id, 2);
  writeFileSync(`${work}/go`, '');
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    attempts: { used: 2 },
    runs: [
      { reason: 'crashed', counts: true, message: expect.stringContaining('killed by SIGKILL') },
      { reason: null },
    ],
  });
});

test.concurrent('F13: an agent that ignores INT and TERM is dead 20 s later, with all that it started', async () => {
  const id = await enqueue({ coder: 'stubborn' });
  await fleet.running(id);
  await until(async () => (await marked(id)).length >= 5);
  const start = performance.now();
  await fleet.fleet.cancel(id);
  await until(async () => (await marked(id)).length === 0, { timeoutMs: 30_000 });
  const ms = performance.now() - start;
  expect(ms).toBeGreaterThan(15_000);
  // Ladder, 2 s, and the 2 s in which a heartbeat brings the cancellation.
  expect(ms).toBeLessThan(24_000);
  await stateIs(id, 'cancelled');
});

test.concurrent('F14: daemons by setsid, double fork and nohup end with their run, which says so', async () => {
  const report = await drain({ coder: 'daemonise' });
  expect(report.state).toBe('done');
  expect(exitOf(report)?.summary).toContain('3 processes left behind were ended');
  expect(await marked(report.id)).toEqual([]);
});

(canFreeze ? test.concurrent : test.skip)('F15: what cannot be killed holds its worker, and nothing else', async () => {
  const queue = 'frozen';
  await using held = await fleet.worker('frozen', {
    worker: { slots: 3, queues: [queue] },
    coders: { wait: agent('wait-for-file.sh'), stuck: agent('stuck-once.sh') },
  });
  const other = await enqueue({ queue, coder: 'wait' });
  const { work } = await fleet.running(other);
  const id = await enqueue({ queue, coder: 'stuck', limits: { idle: '2s' }, retry: { maxAttempts: 1 } });
  const ice = freeze(await fleet.running(id));
  try {
    await until(async () => (await fleet.fleet.view(id)).runs[0]?.reason === 'unclean-kill', { timeoutMs: 90_000 });
    expect((await fleet.fleet.view(id)).attempts.used).toBe(0);
    const later = await enqueue({ queue, coder: 'wait' });
    await until(async () => (await fleet.pending(later)) !== undefined);
    writeFileSync(`${work}/go`, '');
    expect(await fleet.settled(other)).toMatchObject({ state: 'done' });
    expect((await held.view()).runs).toEqual([]);
    expect(await fleet.fleet.view(later)).toMatchObject({ state: 'queued', runs: [] });
    await fleet.fleet.cancel(later);
  } finally {
    ice.thaw();
  }
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    runs: [{ reason: 'unclean-kill' }, { reason: null }],
  });
  expect(await marked(id, held)).toEqual([]);
});

(canLimit ? test.concurrent : test.skip)('F16: a fork bomb ends its own run, and no other', async () => {
  const beside = await enqueue({ coder: 'wait' });
  const { work } = await fleet.running(beside);
  const report = await drain({ coder: 'bomb', limits: { processes: 64 }, ...ONCE });
  expect(report).toMatchObject({ state: 'parked', attempts: { used: 1 } });
  expect(report.message).toContain('it reached its limit of 64 processes');
  expect(await marked(report.id)).toEqual([]);
  writeFileSync(`${work}/go`, '');
  expect(await fleet.settled(beside)).toMatchObject({ state: 'done', runs: [{ reason: null }] });
});

(canLimit ? test.concurrent : test.skip)(
  'F17: an agent without end of memory ends alone, and for that reason',
  async () => {
    const report = await drain({ coder: 'greedy', limits: { memory: '64MB' }, ...ONCE });
    expect(report).toMatchObject({ state: 'parked', reason: 'out-of-memory', attempts: { used: 1 } });
    expect(exitOf(report)?.summary).toContain('of which it may use 64 MB');
    expect((await worker.view()).pid).toBe(worker.pid);
  },
);

test.concurrent('F33: an agent without output, CPU time and file changes is stopped as stalled', async () => {
  const report = await drain({ coder: 'silent', limits: { idle: '3s' }, ...ONCE });
  expect(report).toMatchObject({ state: 'parked', reason: 'stalled', attempts: { used: 1 } });
});

test.concurrent('F33: a silent build that burns CPU is not', async () => {
  const id = await enqueue({ coder: 'busy', limits: { idle: '1s' } });
  const { pid, work } = await fleet.running(id);
  await until(() => (processTable().get(pid)?.cpuMs ?? 0) > 4_000, { timeoutMs: 60_000 });
  writeFileSync(`${work}/stop`, '');
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
});

/** Puts the tree that an agent is in, its init as well, where not even SIGKILL is heard. */
function freeze({ pid }: LiveAgent): { thaw(): void } {
  const group = `/sys/fs/cgroup/freezer/fleet-test-${pid}`;
  mkdirSync(group);
  const table = processTable();
  for (const each of withDescendants(table, [table.get(pid)!.parent]))
    writeFileSync(`${group}/cgroup.procs`, String(each.pid));
  writeFileSync(`${group}/freezer.state`, 'FROZEN');
  return {
    thaw: () => {
      writeFileSync(`${group}/freezer.state`, 'THAWED');
      void until(() => readFileSync(`${group}/cgroup.procs`, 'utf8') === '').then(() => rmdirSync(group));
    },
  };
}
