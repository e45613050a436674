import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { identify, type ProcessIdentity } from '../../src/adapters/program/process.ts';
import type { LaunchedRecord } from '../../src/adapters/keeper/protocol.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { agents, keeperIn, watchAgents, type LiveAgent } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';
import { emptied, makeLab } from './lab.ts';
import { go, SHORT } from './machines.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const coders = { wait: agent('wait-for-file.sh') };
const lab = (queue: string) => makeLab(fleet, queue, coders);
const launchedFile = ({ home }: TestWorker, id: string, { runId }: LiveAgent): string =>
  `${home}/runs/${id}/${runId}/launched.json`;

describe('a process is known by its id, its start and its boot', () => {
  /** The worker and its keeper are gone, and the record of the agent names somebody else's process. */
  async function mistaken(name: string, identityOf: (foreign: ProcessIdentity) => ProcessIdentity): Promise<void> {
    const { worker: start, enqueue } = await lab(name);
    const first = await start(name);
    const id = await enqueue();
    const live = await fleet.running(id);
    const keeper = await keeperIn(first.home);
    await first.stop('SIGKILL');
    process.kill(keeper!, 'SIGKILL');
    await until(async () => (await strays(live.work)).length === 0);

    const foreign = spawn('sleep', ['600'], { stdio: 'ignore' });
    try {
      const file = launchedFile(first, id, live);
      const launched = JSON.parse(await readFile(file, 'utf8')) as LaunchedRecord;
      await writeFile(file, JSON.stringify({ ...launched, identity: identityOf(identify(foreign.pid!)!) }));
      await using second = await start(name);
      const next = await fleet.running(id, 2);
      await go(next);
      expect(await fleet.settled(id)).toMatchObject({
        state: 'done',
        attempts: { used: 1 },
        runs: [
          { runId: live.runId, reason: 'host-lost', counts: false },
          { runId: next.runId, reason: null },
        ],
      });
      await emptied(second);
      expect([foreign.exitCode, foreign.signalCode]).toEqual([null, null]);
    } finally {
      foreign.kill('SIGKILL');
    }
  }

  test.concurrent('F19: after a reboot there is one re-dispatch, and nobody is signalled', async () => {
    await mistaken('rebooted', (foreign) => ({ ...foreign, bootId: '00000000-0000-4000-8000-000000000000' }));
  });

  test.concurrent('F20: a process that has the id of a dead agent is never signalled', async () => {
    await mistaken('reused', (foreign) => ({ ...foreign, startTime: String(Number(foreign.startTime) - 1) }));
  });
});

describe('F25: a worker that was stopped and goes on', () => {
  test.concurrent('within its lease it keeps its agent', async () => {
    const { worker: start, enqueue } = await lab('dozed');
    await using worker = await start('dozed');
    const id = await enqueue();
    const live = await fleet.running(id);
    const { activityId } = (await fleet.pending(id))!;
    worker.kill('SIGSTOP');
    await until(async () => (await fleet.pending(id))?.activityId !== activityId, { timeoutMs: 20_000 });
    worker.kill('SIGCONT');
    await until(async () => {
      const pending = await fleet.pending(id);
      return pending?.started && pending.activityId !== activityId;
    });
    expect(await agents(id)).toEqual([live]);
    await go(live);
    expect(await fleet.settled(id)).toMatchObject({
      state: 'done',
      attempts: { used: 1 },
      runs: [{ runId: live.runId, reason: null }],
    });
  });

  test.concurrent('beyond it its keeper has ended the agent, and what it says of the run changes nothing', async () => {
    const { repo, worker: start, enqueue } = await lab('slept');
    const pair = [await start('slept-a', { lease: SHORT }), await start('slept-b', { lease: SHORT })];
    const id = await enqueue();
    const live = await fleet.running(id);
    await using watched = await watchAgents(id);
    const slept = pair.find(({ home }) => live.work.startsWith(`${home}/`))!;
    slept.kill('SIGSTOP');
    await until(async () => (await agents(id)).length === 0, { timeoutMs: 20_000 });
    const next = await fleet.running(id, 2);
    slept.kill('SIGCONT');
    await emptied(slept);
    expect((await slept.view()).slots.used).toBe(0);
    expect(await agents(id)).toEqual([next]);
    await go(next);
    expect(await fleet.settled(id)).toMatchObject({
      state: 'done',
      attempts: { used: 1 },
      runs: [
        { runId: live.runId, reason: 'host-lost', counts: false },
        { runId: next.runId, reason: null },
      ],
    });
    expect(watched.most).toBe(1);
    expect(await git(repo, 'branch', '--list', 'fleet/*', '--format=%(refname:short)')).toBe(`fleet/${id}`);
    for (const worker of pair) await worker.stop();
  });
});

describe('F26: the wall clock jumps', () => {
  const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
  const JUMPS = ['+1h', '-1h', '+1d', '-1d'];
  const named = (name: string) =>
    existsSync(LIBRARY) ? name : `${name} (skipped: no libfaketime, see apt-get install faketime)`;
  const run = existsSync(LIBRARY) ? test.concurrent : test.skip;

  /** The activity that follows the agent, and when the server last heard of it, in milliseconds by its clock. */
  async function heard(id: string): Promise<[activity: string, at: number]> {
    const { raw } = await fleet.client.workflow.getHandle(id).describe();
    const { activityId, lastHeartbeatTime: at } = raw.pendingActivities![0]!;
    return [activityId!, Number(at!.seconds) * 1_000 + Number(at!.nanos) / 1e6];
  }

  run(named('by an hour and a day, to and fro: nothing times out, nothing is started twice'), async () => {
    const { worker: start, enqueue } = await lab('jumpy');
    const clock = `${fleet.root}/clock`;
    await writeFile(clock, '+0');
    const env = {
      ...{ LD_PRELOAD: LIBRARY, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' },
    };
    await using worker = await start('jumpy', {}, { env });
    const id = await enqueue();
    const live = await fleet.running(id);
    for (const jump of JUMPS) {
      await writeFile(clock, jump);
      // It is heard of all the while, for longer than its heartbeat timeout.
      const [activityId, since] = await heard(id);
      await until(async () => (await heard(id))[1] > since + 4_000);
      expect((await heard(id))[0]).toBe(activityId);
      // Its own clock, which stands in what it says, is not asked.
      const shown = (await fleet.fleet.workers()).find(({ name }) => name === worker.name);
      expect(shown).toMatchObject({ state: 'attached', view: { runs: [{ runId: live.runId }] } });
    }
    expect(await agents(id)).toEqual([live]);
    await go(live);
    const report = await fleet.settled(id);
    expect(report).toMatchObject({
      state: 'done',
      attempts: { used: 1 },
      runs: [{ runId: live.runId, reason: null }],
    });
  });
});

describe('F46: a task that breaks its workers', () => {
  test.concurrent('is held for a person after three of them, who is told', async () => {
    const { worker: start, enqueue } = await lab('poison');
    const alerts = `${fleet.root}/poison-alerts`;
    // Somebody goes on with the task; it has no coder that this task may run under.
    await using bystander = await start('bystander', { alerts: { command: ['sh', '-c', `cat >> ${alerts}`] } });
    const killers: TestWorker[] = [];
    for (const n of [1, 2, 3]) {
      const pidFile = `${fleet.root}/poison-${n}.pid`;
      const killer = await start(
        `poison-${n}`,
        {
          lease: SHORT,
          worker: { isolation: 'process-group' },
          coders: { killer: { ...agent('kill-worker.sh'), env: ['WORKER_PID'] } },
        },
        { env: { WORKER_PID: pidFile } },
      );
      await writeFile(pidFile, String(killer.pid));
      killers.push(killer);
    }
    const id = await enqueue({ coder: 'killer' });
    const report = await fleet.settled(id, 180_000);
    expect(report).toMatchObject({ state: 'parked', reason: 'poison', attempts: { used: 0 } });
    expect(new Set(report.runs.map(({ worker }) => worker))).toEqual(new Set(killers.map(({ name }) => name)));
    expect(report.runs.map(({ reason }) => reason)).toEqual(['host-lost', 'host-lost', 'host-lost']);
    for (const killer of killers) expect(await killer.exited).toBeNull();
    // Its last worker is asked first, which is dead.
    const told = async () => {
      const text = await readFile(alerts, 'utf8').catch(() => '');
      const said = text.endsWith('}') ? text.replaceAll('}{', '}\n{').split('\n') : [];
      // The lost workers are told of as well.
      return said.map((line) => JSON.parse(line) as { id?: string }).find((alert) => alert.id === id);
    };
    expect(await until(told, { timeoutMs: 60_000 })).toMatchObject({ state: 'parked', reason: 'poison' });
    for (const { home } of killers) await until(async () => (await strays(`${home}/runs`)).length === 0);
    expect((await bystander.view()).slots.used).toBe(0);
    await fleet.fleet.cancel(id);
  });
});
