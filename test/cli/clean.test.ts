import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { cleanedOf } from '../../src/adapters/state/retained-tasks.ts';
import { connectFleet, type Fleet } from '../../src/client.ts';
import { loadConfig } from '../../src/config.ts';
import { rescueRef } from '../../src/domain/names.ts';
import { Cleaner } from '../../src/workers/clean/cleaner.ts';
import { lockIdleHome } from '../../src/workers/health/locks.ts';
import { git } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';
import { startTemporal, type TestServer } from '../helpers/temporal.ts';
import { until } from '../helpers/until.ts';
import { age, cleanHome, kept } from './clean-home.ts';
import { standIn } from './stand-in.ts';
import { cli } from './world.ts';

/** The command against a real server with real tasks, on homes that look as workers leave them. */

let server: TestServer;
let fleet: Fleet;
let worker: AsyncDisposable;
const ids: Record<'done' | 'failed' | 'parked' | 'running', string> = { done: '', failed: '', parked: '', running: '' };

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR'), workerHeartbeatInterval: '1s' });
  server = await startTemporal();
  fleet = await connectFleet({ env: server.env });
  worker = await standIn(server.address);
  const enqueue = (objective: string) => fleet.enqueue({ objective, type: 'research', retry: { maxAttempts: 1 } });
  ids.done = await enqueue('be done');
  ids.parked = await enqueue('reject');
  ids.failed = await enqueue('reject');
  ids.running = await enqueue('block');
  for (const id of [ids.done, ids.parked, ids.failed]) await fleet.wait(id);
  await fleet.giveUp(ids.failed);
  await until(async () => (await fleet.view(ids.failed)).state === 'failed');
  await until(async () => (await fleet.view(ids.running)).state === 'running');
}, 120_000);

afterAll(async () => {
  await fleet?.cancel(ids.running);
  await fleet?.wait(ids.running, 20_000);
  await worker?.[Symbol.asyncDispose]();
  await fleet?.close();
  await server?.stop();
});

test('removes by class and age, lists it first, and leaves alone what may be needed or cannot be told', async () => {
  await using temp = await tempDir();
  const { layout, keep, origin, clean } = await cleanHome(server, temp.path);
  await keep(ids.done, 8);
  await keep(ids.failed, 15);
  await keep(ids.parked, 100);
  await keep(ids.running, 100);
  await keep('forgotten', 8);
  await keep('of-another-server', 100, { ...origin, server: 'elsewhere:7233/default' });
  await keep('of-nobody', 100, null);
  await mkdir(`${layout.runs}/.trash/1-x`, { recursive: true });

  const dry = await clean('--dry-run');
  expect(dry.code).toBe(0);
  const rows = dry.out.split('\n').map((line) => line.trim().split(/ {2,}/));
  expect(rows[0]).toEqual(['CLASS', 'WHAT', 'AGE', 'SIZE']);
  expect(rows.slice(1, -2).map(([kind, what, days]) => [kind, what, days])).toEqual([
    ['unused', 'leftover', expect.any(String)],
    ['accepted', `task ${ids.done}`, expect.stringMatching(/^8d/)],
    ['orphaned', 'task forgotten', expect.stringMatching(/^8d/)],
    ['rejected', `task ${ids.failed}`, expect.stringMatching(/^15d/)],
  ]);
  expect(dry.out).toMatch(/4 things, 3\d\d KB to remove\n$/);
  expect(await kept(layout)).toHaveLength(7);

  expect((await clean('--class', 'rejected')).out).toMatch(/^CLASS.*\nrejected .*\n1 thing, 1\d\d KB removed\n$/);
  expect((await clean()).out).toMatch(/3 things, \d+ KB removed\n$/);
  expect(await kept(layout)).toEqual([ids.parked, ids.running, 'of-another-server', 'of-nobody'].sort());
  expect(await cleanedOf(layout, ids.done)).toMatchObject({ class: 'accepted' });
  expect((await clean()).out).toBe('there is nothing to clean\n');
});

test('younger things stay unless told; a run that is held stays in any case', async () => {
  await using temp = await tempDir();
  const { layout, keep, clean } = await cleanHome(server, temp.path);
  await keep(ids.done, 6);
  await keep(ids.failed, 13);
  await mkdir(`${layout.runs}/${ids.failed}/2-x`, { recursive: true });
  expect((await clean()).out).toBe('there is nothing to clean\n');
  await clean('--older-than', '1h');
  expect(await kept(layout)).toEqual([ids.failed]);
});

test("a run that was set aside stays for as long as its task is open, and another server's", async () => {
  await using temp = await tempDir();
  const { layout, keep, clean } = await cleanHome(server, temp.path);
  const aside = async (id: string, days: number) => {
    const dir = `${layout.runs}/.torn/${id}-1-0a1b2c3d`;
    await mkdir(`${dir}/work`, { recursive: true });
    await age(dir, days);
    return dir;
  };
  const elsewhere = await aside('theirs-k3x9qa', 100);
  await keep('theirs-k3x9qa', 100, { server: 'elsewhere:7233/default', worker: 'ada' });
  const [open, closed, young] = [await aside(ids.parked, 100), await aside(ids.failed, 21), await aside(ids.done, 19)];
  expect((await clean()).out).toMatch(/^CLASS.*\nset-aside  run .*, which was set aside.*\n1 thing, /);
  expect([open, closed, young, elsewhere].map((dir) => existsSync(dir))).toEqual([true, false, true, true]);
});

test('what a worker keeps of an open task has no age', async () => {
  await using temp = await tempDir();
  const { layout, keep, clean } = await cleanHome(server, temp.path);
  await keep(ids.parked, 400);
  await keep(ids.running, 400);
  expect((await clean('--older-than', '1s')).out).toBe('there is nothing to clean\n');
  const cleaner = new Cleaner(
    () => ({
      ...{ home: layout, keep: loadConfig({ home: layout.root, env: {} }).keep, basesInUse: new Set<string>() },
      server: { client: fleet.temporal, name: `${server.address}/default` },
    }),
    () => {},
  );
  await cleaner.makeRoom(async () => false);
  await cleaner.stop();
  expect(await kept(layout)).toEqual([ids.parked, ids.running].sort());
});

test('rescued work goes with its task, its objects too, and beside a live worker only what it does not work with', async () => {
  await using temp = await tempDir();
  const { layout, keep, rescue, clean } = await cleanHome(server, temp.path);
  const vaultDir = layout.vaultOf('r');
  const save = async (taskId: string) => git(vaultDir, 'rev-parse', relative(vaultDir, await rescue(taskId, '1-a')));
  const [gone, stays] = [await save(ids.failed), await save(ids.parked)];
  await keep(ids.failed, 15);
  await keep(ids.parked, 15);
  await mkdir(`${layout.mirrors}/m.git`, { recursive: true });
  await age(`${layout.mirrors}/m.git`, 30);
  const has = (id: string) =>
    git(vaultDir, `--git-dir=${vaultDir}`, 'cat-file', '--batch-check', '--batch-all-objects').includes(id);

  {
    using _live = lockIdleHome(layout)!;
    expect(lockIdleHome(layout)).toBeUndefined();
    const beside = await clean();
    expect(beside.out).toContain(`task ${ids.failed} with its rescued work`);
    expect([has(gone), has(stays), existsSync(`${layout.mirrors}/m.git`)]).toEqual([true, true, true]);
  }

  expect((await clean()).out).toContain('mirror m.git');
  expect([has(gone), has(stays), existsSync(`${layout.mirrors}/m.git`)]).toEqual([false, true, false]);
  expect(existsSync(`${vaultDir}/${rescueRef(ids.parked, '1-a')}`)).toBe(true);
});

test('without a server it says so and removes only leftovers; bad flags are refused', async () => {
  await using temp = await tempDir();
  const { layout, keep } = await cleanHome(server, temp.path);
  await keep(ids.done, 100);
  await mkdir(`${layout.runs}/.trash/1-x`, { recursive: true });
  const env = { ...server.env, FLEET_HOME: layout.root, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const ran = await cli(['clean'], { env });
  expect(ran).toMatchObject({ code: 1, out: expect.stringMatching(/1 thing, .* removed/) });
  expect(ran.err).toMatch(/no Temporal server answers at 127.0.0.1:1.*nobody can tell which tasks are finished/);
  expect([await kept(layout), existsSync(`${layout.runs}/.trash/1-x`)]).toEqual([[ids.done], false]);

  expect(await cli(['clean', '--class', 'old'], { env })).toMatchObject({
    code: 2,
    err: expect.stringContaining('--class must be one of unused, accepted, orphaned, rejected, set-aside, not "old"'),
  });
  expect(await cli(['clean', '--older-than', 'long'], { env })).toMatchObject({ code: 2 });
  expect(await cli(['clean'], { env: { ...env, FLEET_HOME: `${temp.path}/none` } })).toMatchObject({
    code: 0,
    out: 'there is nothing to clean\n',
  });
});
