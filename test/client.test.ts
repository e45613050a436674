import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { connectFleet, type Fleet, type TaskReport } from '../src/client.ts';
import { HOST, LOG, standIn } from './cli/stand-in.ts';
import { cli as runHere } from './cli/world.ts';
import { startTemporal, type TestServer } from './helpers/temporal.ts';
import { until } from './helpers/until.ts';

/** The client and the commands against a real server and the real workflows; only the activities are stand-ins. */

let server: TestServer;
let fleet: Fleet;
let worker: AsyncDisposable;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR'), workerHeartbeatInterval: '1s' });
  server = await startTemporal();
  await mkdir(server.home, { recursive: true });
  await writeFile(`${server.home}/config.yaml`, 'queues: [empty, silent]\n');
  fleet = await connectFleet({ env: server.env });
  worker = await standIn(server.address);
});

afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await fleet?.close();
  await server?.stop();
});

describe('a task', () => {
  test('is enqueued, followed to done, and viewed with its receipts', async () => {
    const id = await fleet.enqueue({ objective: 'Say hello\nto all', type: 'research', labels: ['a'] });
    expect(id).toMatch(/^say-hello-[a-z0-9]{6}$/);
    const states: string[] = [];
    for await (const report of fleet.follow(id, { tickMs: 20 })) states.push(report.state);
    expect(states.at(-1)).toBe('done');
    const report = await fleet.view(id);
    expect(report).toMatchObject({
      id,
      title: 'Say hello',
      state: 'done',
      partial: false,
      live: null,
      coder: 'claude',
    });
    expect(report.receipts.map(({ kind }) => kind)).toEqual(['exit']);
    expect((await fleet.explain(id)).sentence).toBe('it is done: all 1 receipts are ok (no acceptance command)');
    expect((await cli('task', id, '--json')).json()).toMatchObject({
      id,
      state: 'done',
      runs: [{ n: 1 }],
      receipts: [{ kind: 'exit' }],
    });
    expect((await cli('task', id, 'receipts')).out).toContain('ended with 0');
  });

  test('that runs shows what its agent last did', async () => {
    const id = await fleet.enqueue({ objective: 'block', type: 'research' });
    const report = await when(id, ({ live }) => live?.lastEvent !== undefined);
    expect(report).toMatchObject({ state: 'running', worker: 'ada', live: { lastEvent: 'Bash npm test' } });
    expect((await fleet.explain(id)).sentence).toMatch(/^the agent runs on worker ada, for .*: Bash npm test$/);
    const row = (await cli('tasks', '--state', 'running')).out.split('\n').find((line) => line.startsWith(id));
    expect(row).toMatch(/running +claude +ada .* 1\.2k +900$/);
    await fleet.cancel(id);
    expect(await fleet.wait(id, 20_000)).toMatchObject({ state: 'cancelled' });
    await expect(fleet.cancel(id)).rejects.toThrow(`task ${id} is cancelled already`);
  });

  test('that is parked takes retry, accept and give-up, and nothing else does', async () => {
    const id = await fleet.enqueue({ objective: 'reject', type: 'research', retry: { maxAttempts: 1 } });
    expect(await fleet.wait(id)).toMatchObject({ state: 'parked', reason: 'receipts-rejected' });
    expect(await fleet.explain(id)).toMatchObject({ reason: 'receipts-rejected' });
    await expect(fleet.accept(id, 'fine')).rejects.toThrow(/no run of this task left a result to accept/);
    expect(await cli('task', id, 'accept')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^fleet: --why is required/),
    });
    expect(await cli('task', id, 'wait')).toMatchObject({ code: 1 });
    await fleet.retry(id);
    expect(await fleet.wait(id)).toMatchObject({ state: 'parked', runs: [{ n: 1 }, { n: 2 }] });
    expect(await cli('task', id, 'give-up', '--why', 'no use')).toMatchObject({
      code: 0,
      out: `task ${id} is given up\n`,
    });
    const report = await when(id, ({ state }) => state === 'failed');
    expect(report).toMatchObject({
      partial: false,
      message: 'given up: no use',
      decision: { action: 'give-up', why: 'no use' },
    });
    await until(async () => (await fleet.list({ states: ['failed'] })).some((each) => each.id === id));
    await expect(fleet.retry(id)).rejects.toThrow(`task ${id} is failed already`);
  });

  test('started by hand with bad input fails with the reason', async () => {
    const handle = await fleet.temporal.workflow.start('agentTask', {
      workflowId: 'by-hand',
      taskQueue: 'fleet',
      args: [{ objective: ' ' }],
    });
    await expect(handle.result()).rejects.toThrow();
    expect(await fleet.view('by-hand')).toMatchObject({
      state: 'failed',
      reason: 'invalid-task',
      message: 'invalid task: objective must not be empty',
    });
  });

  test('that was terminated is shown as cancelled', async () => {
    const id = await fleet.enqueue({ objective: 'block', type: 'research' });
    await when(id, ({ state }) => state === 'running');
    await fleet.temporal.workflow.getHandle(id).terminate();
    expect(await fleet.view(id)).toMatchObject({ state: 'cancelled', message: 'terminated' });
    expect((await fleet.explain(id)).sentence).toBe('it was cancelled (terminated)');
  });

  test('is enqueued once: the same id is refused with a pointer to the first', async () => {
    await fleet.enqueue({ objective: 'x', type: 'research' }, { id: 'twice' });
    await expect(fleet.enqueue({ objective: 'y', type: 'research' }, { id: 'twice' })).rejects.toThrow(
      'see fleet task twice',
    );
    await fleet.wait('twice');
    await expect(fleet.enqueue({ objective: 'y', type: 'research' }, { id: 'twice' })).rejects.toThrow(
      'see fleet task twice',
    );
  });

  test('told by one key with two objectives at once is one task, and the other objective is refused', async () => {
    const told = ['x', 'y'].map((objective) => fleet.enqueue({ objective, type: 'research' }, { key: 'one of two' }));
    const [kept, lost] = (await Promise.allSettled(told)).toSorted((a, b) => a.status.localeCompare(b.status));
    expect(kept).toMatchObject({ status: 'fulfilled', value: expect.stringMatching(/^one-of-two-/) });
    expect(lost).toMatchObject({ reason: { message: expect.stringContaining('has another objective') } });
  });

  test('that nobody answers for is shown as the server knows it', async () => {
    const id = await fleet.enqueue({ objective: 'x', type: 'research', queue: 'silent', priority: 7, labels: ['b'] });
    const report = await fleet.view(id);
    expect(report).toMatchObject({
      id,
      title: 'x',
      state: 'queued',
      partial: true,
      queue: 'silent',
      priority: 7,
      labels: ['b'],
      objective: 'x',
    });
    expect((await fleet.explain(id)).sentence).toBe(
      'waiting: no attached worker claims from queue silent; start one with fleet worker --queue silent',
    );
    await fleet.cancel(id);
  });
});

describe('a worker', () => {
  test('is listed with its slots, and its logs are read from anywhere', async () => {
    const id = await fleet.enqueue({ objective: 'x', type: 'research' });
    await fleet.wait(id);
    const listed = await until(async () => {
      const workers = await fleet.workers();
      return workers.some(({ view }) => view) && workers;
    });
    expect(listed).toMatchObject([
      { name: 'ada', hostQueue: HOST, queues: ['fleet'], state: 'attached', view: { slots: { total: 2, used: 0 } } },
    ]);
    expect((await cli('workers')).out).toContain('0 of 2');

    expect(await cli('task', id, 'log')).toMatchObject({ code: 0, out: 'one\ntwo\nthree ✓\n' });
    expect(await cli('task', id, 'log', '-f')).toMatchObject({ code: 0, out: 'one\ntwo\nthree ✓\n' });
    expect((await cli('task', id, 'log', '--json')).json()).toMatchObject({ run: 1, text: LOG.slice(0, 10), gap: 0 });
    expect(await cli('task', id, 'log', '--run', '9')).toMatchObject({
      code: 2,
      err: `fleet: task ${id} has no run 9\n`,
    });
    expect(await cli('task', id, 'plan')).toMatchObject({ code: 1, err: 'fleet: worker ada: no such file\n' });
    expect((await fleet.list()).every((report) => !report.id.startsWith('ask-'))).toBe(true);
  });
});

async function when(id: string, ready: (report: TaskReport) => boolean): Promise<TaskReport> {
  for await (const report of fleet.follow(id, { tickMs: 20 })) if (ready(report)) return report;
  return fleet.view(id);
}

const cli = (...argv: string[]) => runHere(argv, { cwd: server.home, env: server.env });
