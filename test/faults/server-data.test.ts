import { readFile, readdir, writeFile } from 'node:fs/promises';
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

  // Also of a worker that was not there.
  await again.stop('SIGKILL');
  await swap(site, { keep: 'newer', restore: 'older' });
  const third = await fleet.worker('rolled', { lease: LONG, coders });
  await said(third, 'does not know of run');
  expect(await fleet.fleet.view(waiting)).toMatchObject({ state: 'queued', runs: [] });
  expect((await fleet.cli(['rollback', 'accept'])).code).toBe(0);
  expect(await fleet.settled(waiting)).toMatchObject({ state: 'done' });
});

test('F9: what ended after the copy was made does not run again, over the end of a longer run and a restart, until a person accepts it', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  const alerts = `${fleet.root}/alerts`;
  const config = { lease: LONG, coders, worker: { slots: 3 }, alerts: { command: ['sh', '-c', `cat >> ${alerts}`] } };
  const worker = await fleet.worker('held', config);
  const repo = await fleet.repo('held');
  const run = (coder: string) => fleet.fleet.enqueue({ objective: 'x', repo, coder });
  const [long, one, two] = [await run('wait'), await run('wait'), await run('wait')];
  const live = await Promise.all([long, one, two].map((id) => fleet.running(id)));
  const queued = await run('ok');
  await swap(site, { keep: 'older' });
  await go(live[1]!.work);
  await go(live[2]!.work);
  for (const id of [one, two, queued]) expect(await fleet.settled(id)).toMatchObject({ state: 'done' });

  await swap(site, { keep: 'newer', restore: 'older' });
  await said(worker, 'the Temporal server does not know of run 1 of');
  const forgotten = [one, two, queued].toSorted();
  const noticed = async () => (await fleet.fleet.orders.rollback()).flatMap(({ runs }) => runs);
  await until(async () => (await noticed()).length === 3);
  expect((await noticed()).map(({ taskId }) => taskId).toSorted()).toEqual(forgotten);
  await until(async () => (await readFile(alerts, 'utf8').catch(() => '')).includes('"state":"holding"'));
  await until(async () => (await fleet.fleet.workers())[0]?.state === 'holding');

  // The end of the long run is known to the older copy.
  await go(live[0]!.work);
  expect(await fleet.settled(long)).toMatchObject({ state: 'done', runs: [{ n: 1 }] });
  await worker.stop('SIGKILL');
  const again = await fleet.worker('held', config);
  await said(again, 'the Temporal server does not know of run 1 of');
  for (const id of forgotten) {
    await until(async () => (await fleet.fleet.view(id)).state === 'queued');
    const view = await fleet.fleet.view(id);
    expect(view).toMatchObject({ forgotten: { taskId: id, n: 1, ended: true, worker: worker.name } });
    expect(view.runs.filter(({ reason }) => reason !== 'host-lost')).toEqual([]);
    expect((await fleet.fleet.explain(id)).sentence).toContain('fleet rollback accept');
  }
  for (const args of [['tasks'], ['workers'], ['inbox']])
    expect((await fleet.cli(args)).stderr).toContain('fleet rollback accept');

  const { stdout } = await fleet.cli(['rollback', 'accept', '--why', 'test', '--json']);
  const { accepted } = JSON.parse(stdout) as { accepted: { taskId: string }[] };
  expect(accepted.map(({ taskId }) => taskId).toSorted()).toEqual(forgotten);
  expect((await fleet.settled(queued)).runs).toMatchObject([{ n: 1 }]);
  for (const id of [one, two]) await go((await fleet.running(id, 2)).work);
  for (const id of [one, two]) expect((await fleet.settled(id)).runs.at(-1)).toMatchObject({ n: 2 });
  expect(await noticed()).toEqual([]);
});

test('F9: a worker that did nothing since the copy does nothing of it again, and all go on once the newer one is back', async () => {
  await using site = await serverSite();
  const { fleet } = site;
  const ada = await fleet.worker('ada', { lease: LONG, coders, worker: { slots: 2 } });
  const repo = await fleet.repo('both');
  const run = () => fleet.fleet.enqueue({ objective: 'x', repo, coder: 'wait' });
  const [long, one] = [await run(), await run()];
  const live = await Promise.all([long, one].map((id) => fleet.running(id)));
  const bob = await fleet.worker('bob', { lease: LONG, coders });
  await swap(site, { keep: 'older' });
  await go(live[1]!.work);
  expect(await fleet.settled(one)).toMatchObject({ state: 'done' });

  await swap(site, { keep: 'newer', restore: 'older' });
  for (const worker of [ada, bob]) await said(worker, `the Temporal server does not know of run 1 of ${one}`);
  await until(async () => (await fleet.fleet.view(one)).state === 'queued');
  expect((await fleet.fleet.view(one)).runs).toMatchObject([{ n: 1, worker: ada.name }]);
  expect(await agents(one)).toEqual([]);

  await swap(site, { keep: 'older', restore: 'newer' });
  for (const worker of [ada, bob]) await said(worker, 'taking new work again');
  const next = await run();
  await go((await fleet.running(next)).work);
  await go(live[0]!.work);
  for (const id of [long, one, next])
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{ n: 1, reason: null }] });
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
