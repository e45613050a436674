import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDevServer, type DevServer } from '../../src/adapters/temporal/dev-server.ts';
import { listens } from '../../src/adapters/temporal/address.ts';
import type { ProcessIdentity } from '../../src/adapters/program/process.ts';
import { agent, git, TestFleet } from '../helpers/fleet.ts';
import { agents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let restarted: DevServer | undefined;

beforeAll(async () => {
  fleet = await TestFleet.start();
}, 120_000);
afterAll(async () => {
  await fleet.stopWorkers();
  await restarted?.stop();
  await fleet[Symbol.asyncDispose]();
});

test('kill -9 of the Temporal server in the middle of a run: the agent goes on, and the task ends once', async () => {
  const lease = { heartbeat: '3s', grace: '75s', selfKill: '60s' };
  const repo = await fleet.repo('outage-shop');
  await fleet.worker('outage', { lease, coders: { wait: agent('wait-for-file.sh') } });
  const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'wait' });
  const live = await fleet.running(id);

  const { home, address } = fleet.server;
  const { identity } = JSON.parse(await readFile(`${home}/temporal.json`, 'utf8')) as { identity: ProcessIdentity };
  process.kill(-identity.pid, 'SIGKILL');
  await until(async () => !(await listens(address)));
  restarted = await startDevServer({ home, port: Number(address.split(':')[1]), headless: true });
  expect(restarted.pid).not.toBe(identity.pid);

  await until(async () => (await fleet.fleet.view(id).catch(() => undefined))?.live, { timeoutMs: 60_000 });
  expect(await agents(id)).toEqual([live]);
  expect(await readFile(`${live.work}/starts`, 'utf8')).toBe('started\n');
  await writeFile(`${live.work}/go`, '');
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'done', attempts: { used: 1 }, runs: [{ runId: live.runId, reason: null }] });
  expect(await git(repo, 'log', '--format=%s', `main..fleet/${id}`)).toBe('Add made.txt');
}, 180_000);
