import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { agents } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';
import { coders, expectListed, go, LONG, serverSite, swap } from './server-site.ts';

const SCRIPT = fileURLToPath(new URL('../../temporal-dev.sh', import.meta.url));
const said = (of: { output(): string }, text: string) => until(() => of.output().includes(text), { timeoutMs: 60_000 });

test('F9: an older copy of the database: the worker says so and takes nothing, until the newer one is back', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  const worker = await fleet.worker('rolled', { lease: LONG, coders });
  const repo = await fleet.repo('rolled');
  const run = () => fleet.fleet.enqueue({ objective: 'x', repo, coder: 'ok' });
  expect(await fleet.settled(await run())).toMatchObject({ state: 'done' });
  await swap(site, { keep: 'older' });
  const done = await run();
  expect(await fleet.settled(done)).toMatchObject({ state: 'done' });

  await swap(site, { keep: 'newer', restore: 'older' });
  await said(worker, `the Temporal server does not know of run 1 of ${done}`);
  const waiting = await run();
  await worker.stop('SIGKILL');
  const again = await fleet.worker('rolled', { lease: LONG, coders });
  await said(again, `the Temporal server does not know of run 1 of ${done}`);
  await until(async () => (await fleet.pending(waiting)) !== undefined);
  expect(await fleet.fleet.view(waiting)).toMatchObject({ state: 'queued', runs: [] });

  await swap(site, { keep: 'older', restore: 'newer' });
  await said(again, 'taking new work again');
  expect(await fleet.settled(await run())).toMatchObject({ state: 'done' });

  // A worker that is there when the older data comes back may claim what that has waiting, before it looks again: that
  // repeats nothing. One that starts looks first.
  await again.stop('SIGKILL');
  await swap(site, { keep: 'newer', restore: 'older' });
  const third = await fleet.worker('rolled', { lease: LONG, coders });
  await said(third, 'does not know of run');
  expect(await fleet.fleet.view(waiting)).toMatchObject({ state: 'queued', runs: [] });
  const [ledger] = await readdir(`${third.home}/ledger`);
  await rm(`${third.home}/ledger/${ledger}`);
  expect(await fleet.settled(waiting)).toMatchObject({ state: 'done' });
});

test('F9: a new database at the same address is another server: its tasks run, and those of the one before are ended', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  const worker = await fleet.worker('fresh', { lease: LONG, coders, worker: { slots: 1 } });
  const repo = await fleet.repo('fresh');
  const before = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'wait' });
  await fleet.running(before);
  await swap(site, { keep: 'before' });
  await said(worker, 'is attached again');
  expect(worker.output()).toContain('1 run here is of another Temporal server');
  expect(await agents(before)).toEqual([]);
  const after = await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'ok' });
  expect(await fleet.settled(after)).toMatchObject({ state: 'done', runs: [{ reason: null }] });
  expect(await readdir(`${worker.home}/runs`)).toContain(before);
});

test('F10: data of another version of the server is refused in one sentence, by fleet up as well', async () => {
  await using site = await serverSite();
  const { fleet, home, port } = site;
  await site.stop();
  const version = await readFile(`${home}/temporal.db.version`, 'utf8');
  await writeFile(`${home}/temporal.db.version`, '0.0.1\n');
  const sentence = `${home}/temporal.db was written by server 0.0.1, and the server of `;
  await expect(site.start()).rejects.toMatchObject({ message: expect.stringContaining(sentence), exitCode: 1 });
  const script = await execa(SCRIPT, ['--port', String(port), '--headless'], {
    env: { FLEET_HOME: home },
    reject: false,
  });
  expect([script.exitCode, script.stderr]).toEqual([1, expect.stringContaining(`temporal-dev.sh: ${sentence}`)]);
  await writeFile(`${home}/temporal.db.version`, version);
  await site.start();
  expect(await fleet.fleet.list()).toEqual([]);
});

test('F22: the same task a hundred times at once is one task, and one run', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  await fleet.worker('same', { lease: LONG, coders });
  const input = { objective: 'x', repo: await fleet.repo('same'), coder: 'ok' };
  const all = await Promise.allSettled(Array.from({ length: 100 }, () => fleet.fleet.enqueue(input, { id: 'same' })));
  const refused = all.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.message)] : []));
  expect(new Set(refused)).toEqual(new Set(['there is a task same already: see fleet task same']));
  expect(refused).toHaveLength(99);
  expect(await fleet.settled('same')).toMatchObject({ state: 'done', runs: [{ n: 1 }] });
  expect((await fleet.fleet.list({ all: true })).map(({ id }) => id)).toEqual(['same']);
});

test('F45: heartbeats add nothing to the history, and 3 MB of objective are refused in a sentence', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  await fleet.worker('beats', { lease: LONG, coders });
  const id = await fleet.fleet.enqueue({ objective: 'x', repo: await fleet.repo('beats'), coder: 'wait' });
  const live = await fleet.running(id);
  const describe = () => fleet.client.workflow.getHandle(id).describe();
  const beats = new Set<string>();
  const lengths = new Set<number>();
  await until(
    async () => {
      const { raw, historyLength } = await describe();
      const at = raw.pendingActivities?.[0]?.lastHeartbeatTime;
      if (at) beats.add(`${String(at.seconds)}.${at.nanos}`);
      if (at) lengths.add(historyLength);
      return beats.size >= 8;
    },
    { timeoutMs: 60_000 },
  );
  expect(lengths.size).toBe(1);
  await go(live.work);
  await fleet.settled(id);
  const line = JSON.stringify({ objective: 'x'.repeat(3_000_000), type: 'message' });
  const { code, stderr } = await fleet.cli(['enqueue', '--stdin'], { input: `${line}\n` });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^fleet: line 1: objective [^\n]*$/)]);
});

test('F47: after load the list and each task say the same', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  await fleet.worker('list', { lease: LONG, coders, worker: { slots: 4 } });
  const repo = await fleet.repo('list');
  const ids = await Promise.all(
    Array.from({ length: 40 }, (_, i) => fleet.fleet.enqueue({ objective: 'x', repo, coder: i % 4 ? 'ok' : 'wait' })),
  );
  await Promise.all(ids.filter((_, i) => i % 4 === 0).map((id) => fleet.fleet.cancel(id)));
  await Promise.all(ids.map((id) => fleet.settled(id, 180_000)));
  await expectListed(fleet, ids);
});
