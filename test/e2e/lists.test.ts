import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection, makeGrpcRetryInterceptor } from '@temporalio/client';
import { readInbox } from '../../src/client/read/inbox.ts';
import { listTasks } from '../../src/client/read/list.ts';
import { lookAround } from '../../src/client/overview/survey.ts';
import type { FleetConnection } from '../../src/client/connection.ts';
import { loadConfig } from '../../src/config.ts';
import type { InboxItem, ListedTask } from '../../src/client.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

const QUEUED = 30;
let fleet: TestFleet;
let repo: string;
let worker: TestWorker;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('lists', { 'a.txt': 'a\n' });
  worker = await fleet.worker('lists', {
    worker: { slots: 2 },
    coders: {
      made: { command: ['sh', '-c', 'echo made > made.txt'], protocol: 'none' },
      ask: agent('ask-human.sh'),
      asleep: { command: ['sh', '-c', 'exec sleep 86400'], protocol: 'none' },
    },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

/** A client whose calls are counted, by their names. */
async function counting(): Promise<{ wire: FleetConnection; calls: Map<string, number>; close(): Promise<void> }> {
  const calls = new Map<string, number>();
  const once = makeGrpcRetryInterceptor({ retryableDecider: () => false, delayFunction: () => 0 });
  const connection = await Connection.connect({
    address: fleet.server.address,
    interceptors: [
      (options, next) => {
        const name = options.method_definition.path.split('/').at(-1)!;
        calls.set(name, (calls.get(name) ?? 0) + 1);
        return once(options, next);
      },
    ],
  });
  const client = new Client({ connection });
  const wire = { client, config: loadConfig({ home: fleet.root, env: {} }) };
  return { wire, calls, close: () => connection.close() };
}

const list = (): Promise<ListedTask[]> => fleet.fleet.list({ all: true });
const listed = (id: string, state: string) =>
  until(async () => (await list()).find((row) => row.id === id && row.state === state), { timeoutMs: 60_000 });

test('lists say all of a task by themselves: the same without a worker, and with no call for each', async () => {
  const enqueue = (coder: string, input: object = {}) =>
    fleet.fleet.enqueue({ objective: `Say ${coder}\nin two lines`, repo, coder, ...input });
  const done = await enqueue('made', { verify: ['test -s made.txt'], model: 'm1' });
  const unshown = await enqueue('made', { labels: ['mine'], priority: 20 });
  const parked = await enqueue('made', { verify: ['test -s other.txt'], retry: { maxAttempts: 2 } });
  const asked = await enqueue('ask');
  const approval = await enqueue('made', { approval: 'before-run' });
  await Promise.all([done, unshown, parked].map((id) => fleet.settled(id)));
  await listed(asked, 'awaiting-answer');
  await listed(approval, 'awaiting-approval');
  const blocked = await enqueue('made', { dependsOn: [parked, done] });
  const running = [await enqueue('asleep'), await enqueue('asleep')];
  for (const id of running) await listed(id, 'running');
  const orders = Array.from({ length: QUEUED }, () => ({ input: { objective: 'Wait', repo, coder: 'made' } }));
  await fleet.fleet.enqueueAll(orders);
  await until(async () => (await list()).filter(({ state }) => state === 'queued').length === QUEUED);
  await listed(blocked, 'blocked');

  const { wire, calls, close } = await counting();
  const rows = await listTasks(wire, { all: true });
  const live = rows.filter((row) => row.live !== null).map(({ id }) => id);
  expect(live.sort()).toEqual(running.toSorted());
  // One of them asks for what workers noticed of a rollback.
  expect(calls.get('DescribeWorkflowExecution')).toBeLessThanOrEqual(running.length + 1);
  expect(calls.get('QueryWorkflow')).toBeUndefined();
  expect(calls.get('ListWorkflowExecutions')).toBe(2);
  calls.clear();
  const inbox = await readInbox(wire);
  expect(Object.fromEntries(calls)).toEqual({ ListWorkflowExecutions: 1 });
  calls.clear();
  const { seen } = await lookAround(wire);
  expect(seen.filter(({ state }) => state === 'queued')).toHaveLength(QUEUED);
  expect(calls.get('QueryWorkflow')).toBeUndefined();
  expect(calls.get('DescribeWorkflowExecution')).toBeLessThanOrEqual(running.length + 1);
  await close();

  const row = (id: string) => rows.find((one) => one.id === id)!;
  const commit = await git(repo, 'rev-parse', `fleet/${done}`);
  expect(row(done)).toMatchObject({
    ...{ title: 'Say made', state: 'done', coder: 'made', model: 'm1', worker: null, lastWorker: worker.name },
    ...{ message: null, attempts: { used: 1, max: 3 }, runs: [{ n: 1, outcome: 'accepted' }] },
    result: { branch: `fleet/${done}`, commit, shownBy: expect.arrayContaining(['acceptance']) },
  });
  expect(row(unshown)).toMatchObject({ labels: ['mine'], priority: 20, result: { shownBy: ['git'] } });
  const { message, since, runs } = await fleet.fleet.view(parked);
  expect(row(parked)).toMatchObject({
    ...{ state: 'parked', reason: 'receipts-rejected', message, since, attempts: { used: 2, max: 2 } },
    runs: runs.map(({ startedAt, endedAt }) => ({ startedAt, endedAt, outcome: 'receipts-rejected' })),
  });
  expect(row(blocked)).toMatchObject({ message: `it waits for ${parked}, ${done}`, dependsOn: [parked, done] });
  const item = (id: string): InboxItem => inbox.find((one) => one.id === id)!;
  expect(inbox.map(({ id }) => id).sort()).toEqual([parked, asked, approval].sort());
  expect(item(asked)).toMatchObject({ kind: 'question', text: 'Which port?', title: 'Say ask', question: 'q1' });
  expect(item(approval)).toMatchObject({ kind: 'approval', approval: 'a1', stage: 'before-run' });
  expect(item(parked).commands).toContain(`fleet task ${parked} check`);

  // A plain task adds no event to what it is told by anyway.
  expect((await fleet.client.workflow.getHandle(done).describe()).historyLength).toBeLessThanOrEqual(46);

  await worker.stop('SIGKILL');
  const still = (all: readonly ListedTask[]) => all.map(({ live: _live, ...one }) => one);
  expect(still(await list())).toEqual(still(rows));
  expect(await fleet.fleet.inbox()).toEqual(inbox);
  const { stdout, stderr } = await fleet.cli(['tasks']);
  expect(stdout.split('\n').filter((line) => / queued /.test(line))).toHaveLength(QUEUED);
  expect(stderr).toBe('');
  // What works, or waits for people, comes before what is queued.
  const few = await fleet.cli(['tasks', '--limit', '7']);
  expect(few.stdout.split('\n').filter((line) => / queued /.test(line))).toHaveLength(2);
  for (const id of [...running, parked, asked, approval]) expect(few.stdout).toContain(id);
  expect(few.stderr).toContain(`${QUEUED - 1} more are open: fleet tasks --limit ${QUEUED + 6}`);
}, 180_000);

test('one that was started by hand is listed, before a worker has begun it and when it is none', async () => {
  const start = (id: string, input: object) =>
    fleet.client.workflow.start('agentTask', { workflowId: id, taskQueue: 'by-hand', args: [input] });
  await start('hand-made', { objective: 'By hand', repo, verify: ['test -s made.txt'] });
  await start('hand-wrong', { objective: 'By hand' });
  expect(await listed('hand-made', 'queued')).toMatchObject({ title: 'hand-made', queue: 'by-hand' });
  await fleet.worker('later', {
    worker: { slots: 1, queues: ['by-hand'], coder: 'made' },
    coders: { made: { command: ['sh', '-c', 'echo made > made.txt'], protocol: 'none' } },
  });
  expect(await listed('hand-made', 'done')).toMatchObject({ title: 'By hand', result: { branch: 'fleet/hand-made' } });
  expect(await listed('hand-wrong', 'failed')).toMatchObject({
    ...{ reason: 'invalid-task', message: expect.stringContaining('repo is required') },
  });
}, 120_000);
