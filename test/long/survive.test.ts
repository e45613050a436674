import { readFile, readdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PartialConfig } from '../../src/config.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { agents, keeperOf, watchAgents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet[Symbol.asyncDispose]());

/** Short, and longer than a busy machine stands still. */
const SHORT = { heartbeat: '6s', grace: '20s', selfKill: '10s' };
/** An agent outlives a restart of its worker on a busy machine. */
const LONG = { heartbeat: '3s', grace: '90s', selfKill: '75s' };
const coders = { wait: agent('wait-for-file.sh') };

/** The tests run at the same time: each has workers and tasks on a queue of its own. */
const lab = (queue: string) => ({
  worker: (name: string, { worker, ...config }: PartialConfig = {}) =>
    fleet.worker(name, { lease: LONG, coders, ...config, worker: { slots: 1, queues: [queue], ...worker } }),
  enqueue: async (input: Partial<TaskInput> = {}) =>
    fleet.fleet.enqueue({ objective: 'x', repo: await repoOf(queue), coder: 'wait', queue, ...input }),
});

const repos = new Map<string, Promise<string>>();
function repoOf(queue: string): Promise<string> {
  const repo = repos.get(queue) ?? fleet.repo(`repo-${queue}`);
  repos.set(queue, repo);
  return repo;
}

const go = (work: string) => writeFile(`${work}/go`, '');
const starts = async (work: string) => (await readFile(`${work}/starts`, 'utf8')).split('\n').length - 1;
const identity = async ({ home }: TestWorker, id: string, runId: string) =>
  JSON.parse(await readFile(`${home}/runs/${id}/${runId}/launched.json`, 'utf8')) as unknown;

/** Waits until another activity than `before` follows the agent. */
const adopted = (id: string, before: string) =>
  until(async () => {
    const activity = await fleet.pending(id);
    return activity?.started && activity.activityId !== before;
  });

describe('a restart of a worker never kills an agent', () => {
  /** Ends the worker by `end`, starts it again, and shows that the same agent is followed to its end. */
  async function restart(name: string, end: (worker: TestWorker) => Promise<void>): Promise<void> {
    const { worker, enqueue } = lab(name);
    const first = await worker(name);
    const id = await enqueue();
    const live = await fleet.running(id);
    const launched = await identity(first, id, live.runId);
    const { activityId } = (await fleet.pending(id))!;
    await end(first);
    expect(await agents(id)).toEqual([live]);

    await using second = await worker(name);
    await adopted(id, activityId);
    expect(await agents(id)).toEqual([live]);
    expect(await identity(second, id, live.runId)).toEqual(launched);
    expect(await starts(live.work)).toBe(1);
    await go(live.work);

    const report = await fleet.settled(id);
    expect(report).toMatchObject({ state: 'done', attempts: { used: 1 }, runs: [{ runId: live.runId, reason: null }] });
    expect(await git(await repoOf(name), 'show', `fleet/${id}:made.txt`)).toBe('made');
    // The log is whole: every byte that the agent wrote, once.
    const log = await fleet.fleet.read(id, { file: 'log' });
    const exit = report.receipts.find(({ kind }) => kind === 'exit');
    expect(exit?.evidence).toMatchObject({ stdout: { bytes: Buffer.byteLength(log.text) } });
    expect(log).toMatchObject({ gap: 0, next: Buffer.byteLength(log.text) });
    expect(log.text).toMatch(/^(tick\n)+(\[.*\n)?/);
  }

  test.concurrent('kill -9 in the middle of a run, then a restart: the same agent, one launch, a whole log', async () => {
    await restart('phoenix', (worker) => worker.stop('SIGKILL'));
  });

  test.concurrent('TERM leaves the agent running, and the next worker adopts it', async () => {
    await restart('polite', async (worker) => {
      await worker.stop('SIGTERM');
      expect(worker.output()).toContain('1 agent keeps running');
    });
  });

  test.concurrent('a second TERM ends the agents; the task is claimed again, and no attempt is used', async () => {
    const { worker, enqueue } = lab('twice');
    const first = await worker('twice');
    const id = await enqueue();
    const live = await fleet.running(id);
    first.kill('SIGTERM');
    await until(() => first.output().includes('keeps running'));
    await first.stop('SIGTERM');
    expect(first.output()).toContain('stopping the agents');
    expect(await strays(live.work)).toEqual([]);

    await using _ = await worker('twice');
    const next = await fleet.running(id, 2);
    await go(next.work);
    expect(await fleet.settled(id)).toMatchObject({
      state: 'done',
      attempts: { used: 1 },
      runs: [{ runId: live.runId, reason: 'host-lost', counts: false }, { reason: null }],
    });
  });
});

describe('when a machine is gone, its runs are claimed elsewhere', () => {
  test.concurrent('by another worker, never two agents at once; no attempt is used; the lost one cleans up when it returns', async () => {
    const { worker, enqueue } = lab('gone');
    const pair = [await worker('gone-a', { lease: SHORT }), await worker('gone-b', { lease: SHORT })];
    const id = await enqueue();
    const live = await fleet.running(id);
    const lost = pair.find(({ home }) => live.work.startsWith(`${home}/`))!;
    const other = pair.find((each) => each !== lost)!;
    await using seen = await watchAgents(id);
    await lost.stop('SIGKILL');

    const next = await fleet.running(id, 2);
    expect(next.work.startsWith(`${other.home}/`)).toBe(true);
    await go(next.work);
    expect(await fleet.settled(id)).toMatchObject({
      state: 'done',
      attempts: { used: 1 },
      runs: [
        { runId: live.runId, reason: 'host-lost', counts: false },
        { runId: next.runId, reason: null },
      ],
    });
    expect(seen.most).toBe(1);

    expect(await readdir(`${lost.home}/runs`)).toEqual([id]);
    await using back = await worker(lost === pair[0] ? 'gone-a' : 'gone-b', { lease: SHORT });
    await until(async () => (await readdir(`${back.home}/runs`)).every((name) => name === '.trash'));
    expect((await back.view()).slots.used).toBe(0);
    await other.stop('SIGKILL');
  });

  test.concurrent('kill -9 of the keeper: its agent dies with it, and no attempt is used', async () => {
    const { worker, enqueue } = lab('keeper');
    await using _ = await worker('keeper');
    const id = await enqueue();
    const live = await fleet.running(id);
    process.kill(await keeperOf(live), 'SIGKILL');
    await until(async () => (await strays(live.work)).length === 0);

    const next = await fleet.running(id, 2);
    await go(next.work);
    expect(await fleet.settled(id)).toMatchObject({
      state: 'done',
      attempts: { used: 1 },
      runs: [{ runId: live.runId, reason: 'host-lost', counts: false }, { reason: null }],
    });
  });
});

describe('what an agent causes uses up an attempt', () => {
  test.concurrent('kill -9 of the agent: crashed, and retried', async () => {
    const { worker, enqueue } = lab('agent');
    await using _ = await worker('agent');
    const id = await enqueue({ retry: { backoff: '1s' } });
    const live = await fleet.running(id);
    process.kill(live.pid, 'SIGKILL');
    const next = await fleet.running(id, 2);
    await go(next.work);
    expect(await fleet.settled(id)).toMatchObject({
      state: 'done',
      attempts: { used: 2 },
      runs: [{ runId: live.runId, reason: 'crashed', counts: true }, { reason: null }],
    });
  });
});

describe('capacity is the sum of attached workers', () => {
  test.concurrent('two workers with homes of their own split a queue within their caps, and never share a task', async () => {
    const { worker, enqueue } = lab('split');
    await repoOf('split');
    const [two, three] = await Promise.all([
      worker('two', { worker: { slots: 2 } }),
      worker('three', { worker: { slots: 3 } }),
    ]);
    const ids = await Promise.all(Array.from({ length: 9 }, () => enqueue()));
    const live = async () => (await Promise.all(ids.map(agents))).flat();
    const on = async ({ home }: TestWorker) => (await live()).filter(({ work }) => work.startsWith(`${home}/`)).length;
    await until(async () => (await live()).length === 5);
    expect([await on(two), await on(three)]).toEqual([2, 3]);

    const runs = new Set<string>();
    for (let open = ids; open.length > 0;) {
      const now = await live();
      expect(new Set(now.map(({ work }) => work.split('/').at(-3))).size).toBe(now.length);
      expect(now.length).toBeLessThanOrEqual(5);
      for (const { runId, work } of now) {
        runs.add(runId);
        await go(work).catch(() => undefined);
      }
      const states = await Promise.all(open.map(async (id) => (await fleet.fleet.view(id)).state));
      open = open.filter((_, i) => states[i] !== 'done');
    }
    const reports = await Promise.all(ids.map((id) => fleet.fleet.view(id)));
    expect(reports.map((report) => report.runs.length)).toEqual(ids.map(() => 1));
    expect(new Set(reports.map((report) => report.runs[0]!.worker))).toEqual(new Set([two.name, three.name]));
    expect(runs.size).toBe(9);
    await Promise.all([two.stop('SIGKILL'), three.stop('SIGKILL')]);
  });
});
