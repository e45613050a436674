import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { superviseDevServer } from '../../src/adapters/temporal/supervise-dev-server.ts';
import { ownDevServer } from '../../src/adapters/temporal/dev-server.ts';
import { homeLayout } from '../../src/domain/names.ts';
import { agents } from '../helpers/live-agents.ts';
import { startForwarder } from '../helpers/network.ts';
import { until } from '../helpers/until.ts';
import { coders, expectListed, go, LONG, serverSite, type ServerSite } from './server-site.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** As short as the rule for leases allows: self-kill 2 s + 1 + 5 + 10 ≤ heartbeat + grace. */
const SHORT = { heartbeat: '3s', grace: '15s', selfKill: '2s' };
const root = process.getuid?.() === 0 ? test : test.skip;

test('F6: ten kills of the server under load: it is started again, nothing acknowledged is lost, the worker goes on', async () => {
  await using site = await serverSite();
  const { fleet, home } = site;
  await using supervision = supervised(site);
  await fleet.worker('kills', { lease: LONG, coders, worker: { slots: 3 } });
  const repo = await fleet.repo('kills');
  const acknowledged: string[] = [];
  let over = false;
  let kills = 0;
  // Twice as many as each kill waits for: it comes in the middle of them.
  const lane = async () => {
    while (!over) {
      const id = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'ok' }).catch(() => undefined);
      if (id) acknowledged.push(id);
      await until(() => over || acknowledged.length < 8 * (kills + 1), { timeoutMs: 120_000 });
    }
  };
  const lanes = [lane(), lane(), lane()];
  for (; kills < 10; kills += 1) {
    await until(() => acknowledged.length >= 4 * (kills + 1), { timeoutMs: 60_000 });
    await site.kill();
    await until(() => ownDevServer(home), { timeoutMs: 60_000 });
  }
  over = true;
  await Promise.all(lanes);
  for (const id of acknowledged)
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', attempts: { used: 1 } });
  await expectListed(fleet, acknowledged);
  expect(supervision.lines).toContain("Temporal's dev server is back");
});

test('F7: its own server hangs for longer than the self-kill deadline: agents run on', async () => {
  await using site = await serverSite();
  const { fleet, home } = site;
  const config = {
    worker: { name: `own-${process.pid}` },
    coders,
    lease: { heartbeat: '3s', grace: '25s', selfKill: '6s' },
  };
  await writeFile(`${home}/config.yaml`, JSON.stringify(config));
  const up = spawn(MAIN, ['up'], { env: fleet.server.env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => up.once('exit', resolve));
  let output = '';
  up.stdout.on('data', (data: Buffer) => (output += data.toString()));
  try {
    await until(() => output.includes('Ctrl-C stops'), { timeoutMs: 60_000 });
    const id = await fleet.fleet.enqueue({ objective: 'x', repo: await fleet.repo('own'), coder: 'wait' });
    const live = await fleet.running(id);
    await site.signal('SIGSTOP');
    const since = performance.now();
    await until(
      async () => {
        expect(await agents(id)).toEqual([live]);
        return performance.now() - since > 14_000;
      },
      { timeoutMs: 30_000 },
    );
    await site.signal('SIGCONT');
    await go(live.work);
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{ runId: live.runId, reason: null }] });
  } finally {
    await site.signal('SIGCONT');
    up.kill('SIGTERM');
    await ended;
  }
});

test('F7: the server of temporal-dev.sh is gone for longer than the self-kill deadline: agents of fleet worker run on', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  await fleet.worker('here', { lease: { heartbeat: '3s', grace: '25s', selfKill: '6s' }, coders });
  const id = await fleet.fleet.enqueue({ objective: 'x', repo: await fleet.repo('here'), coder: 'wait' });
  const live = await fleet.running(id);
  await site.kill();
  const since = performance.now();
  await until(
    async () => {
      expect(await agents(id)).toEqual([live]);
      return performance.now() - since > 14_000;
    },
    { timeoutMs: 30_000 },
  );
  await site.start();
  await until(async () => (await fleet.fleet.view(id).catch(() => undefined))?.live, { timeoutMs: 60_000 });
  expect(await agents(id)).toEqual([live]);
  expect(await readFile(`${live.work}/starts`, 'utf8')).toBe('started\n');
  await go(live.work);
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [{ runId: live.runId, reason: null }],
  });
});

test("F7: somebody else's server hangs for longer than that: agents are stopped and saved, no attempt is used", async () => {
  await using site = await serverSite();
  const { fleet } = site;
  // As through a tunnel: another program listens on this machine.
  const forwarder = await startForwarder({ from: '127.0.0.1', to: fleet.server.address });
  await using _ = { [Symbol.asyncDispose]: forwarder.close };
  await fleet.worker('foreign', { lease: SHORT, coders }, { machine: { prefix: [], address: forwarder.address } });
  const id = await fleet.fleet.enqueue({ objective: 'x', repo: await fleet.repo('foreign'), coder: 'wait' });
  const live = await fleet.running(id);
  await until(() => readFile(`${live.work}/tree/part.txt`, 'utf8').catch(() => ''));
  await site.signal('SIGSTOP');
  const { stderr, code } = await fleet.cli(['tasks']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^fleet: no Temporal server answered at [^\n]* within 10s, [^\n]*it may be busy[^\n]*$/),
  ]);
  await until(async () => (await agents(id)).length === 0, { timeoutMs: 30_000 });
  await site.signal('SIGCONT');
  const next = await fleet.running(id, 2);
  expect(await readFile(`${next.work}/tree/part.txt`, 'utf8')).toBe('part\n');
  await go(next.work);
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [
      { runId: live.runId, reason: 'host-lost', counts: false, saved: { commit: expect.any(String) } },
      { reason: null, resumedFrom: live.runId },
    ],
  });
});

test('F7: the result of an agent that ends while the server is away waits on the disk, and is delivered', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  const worker = await fleet.worker('away', { lease: LONG, coders });
  const id = await fleet.fleet.enqueue({ objective: 'x', repo: await fleet.repo('away'), coder: 'wait' });
  const live = await fleet.running(id);
  await site.kill();
  await go(live.work);
  const { exit } = homeLayout(worker.home).run(id, live.runId);
  await until(() => readFile(exit, 'utf8').catch(() => ''));
  await site.start();
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    attempts: { used: 1 },
    runs: [{ runId: live.runId, reason: null }],
  });
});

root('F8: the disk of the server is full: a sentence, no half task, and all goes on once there is room', async () => {
  await using site = await serverSite();
  const { fleet, home } = site;
  await site.stop();
  await execa('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', home]);
  try {
    await site.start();
    const acknowledged: string[] = [];
    const input = { objective: 'x'.repeat(20_000), type: 'message' as const };
    const refused = async (): Promise<boolean> => {
      const id = await fleet.fleet.enqueue(input).catch(() => undefined);
      if (id) acknowledged.push(id);
      return !id;
    };
    await until(refused, { timeoutMs: 120_000 });
    const { code, stderr } = await fleet.cli(['enqueue', '--type', 'message', 'x']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^fleet: the Temporal server [^\n]* full[^\n]*$/)]);
    await execa('mount', ['-o', 'remount,size=64m', home]);
    await until(async () => !(await refused()), { timeoutMs: 60_000 });
    await expectListed(fleet, acknowledged);
    // What was refused may be there all the same, but then whole.
    const all = await fleet.fleet.list({ all: true });
    expect(all.map(({ state }) => state)).toEqual(all.map(() => 'queued'));
  } finally {
    await site.stop();
    // A killed process lets go of its files a moment after it is dead.
    await until(async () => (await execa('umount', [home], { reject: false })).exitCode === 0);
  }
});

function supervised({ home, fleet, port }: ServerSite): AsyncDisposable & { lines: string[] } {
  const lines: string[] = [];
  const first = { address: fleet.server.address, uiAddress: null, pid: 0, stop: async () => {} };
  const supervision = superviseDevServer(first, { home, port, say: (line) => lines.push(line) });
  return { lines, [Symbol.asyncDispose]: () => supervision.stop() };
}
