import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { cleanedOf } from '../../src/adapters/state/retained-tasks.ts';
import { connectFleet, type Fleet } from '../../src/client.ts';
import { tempDir } from '../helpers/temp.ts';
import { startTemporal, type TestServer } from '../helpers/temporal.ts';
import { until } from '../helpers/until.ts';
import { cleanHome, kept } from './clean-home.ts';
import { standIn } from './stand-in.ts';
import { cli } from './world.ts';

/** What is kept of tasks that somebody names, whatever its age. */

let server: TestServer;
let fleet: Fleet;
let worker: AsyncDisposable;
let other: string;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR'), workerHeartbeatInterval: '1s' });
  server = await startTemporal();
  fleet = await connectFleet({ env: server.env });
  worker = await standIn(server.address);
  other = await fleet.enqueue({ objective: 'be done', type: 'research' });
  await fleet.wait(other);
}, 120_000);

afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await fleet?.close();
  await server?.stop();
});

test('by its name it goes after a question, and the task says so', async () => {
  await using temp = await tempDir();
  const { layout, keep, rescue } = await cleanHome(server, temp.path);
  const id = await fleet.enqueue({ objective: 'reject', type: 'research', retry: { maxAttempts: 1 } });
  await fleet.wait(id);
  const [run] = (await fleet.view(id)).runs;
  const ref = await rescue(id, run!.runId);
  await keep(id, 0);
  await keep(other, 0);
  const env = { ...server.env, FLEET_HOME: layout.root };
  const asked: string[] = [];
  const clean = (answer: string | undefined, ...words: string[]) =>
    cli(['clean', ...words], {
      env,
      ...(answer === undefined ? {} : { ask: async (said) => (asked.push(said), answer) }),
    });

  expect(await clean(undefined, id)).toMatchObject({
    code: 2,
    err: expect.stringContaining(`fleet clean ${id} --yes`),
  });
  expect(await clean('n', id)).toMatchObject({ code: 1, err: 'nothing was removed\n' });
  expect(asked.pop()).toContain(`the next run starts from the base, and nothing can be accepted, of ${id} (parked)`);
  expect((await clean(undefined, id, '--dry-run')).out).toMatch(/to remove\n$/);
  expect([existsSync(ref), (await fleet.view(id)).runs[0]!.savedGone]).toEqual([true, undefined]);

  expect(await clean('y', id)).toMatchObject({ code: 0, err: `the next run of task ${id} starts from the base\n` });
  expect([existsSync(ref), await kept(layout)]).toEqual([false, [other]]);
  expect(await cleanedOf(layout, id)).toMatchObject({ class: 'named' });
  const { savedGone } = (await fleet.view(id)).runs[0]!;
  expect(Date.parse(savedGone!)).toBeGreaterThan(Date.now() - 60_000);
  expect((await cli(['task', id], { env })).out).toContain(`which was removed from ada at ${savedGone}`);
  await expect(fleet.accept(id, 'fine')).rejects.toThrow('no run of this task left a result to accept');

  const again = await cli(['task', id, 'retry'], { env });
  expect(again.out).toContain(`starts from the base: the saved work of run ${run!.runId} was removed at ${savedGone}`);
  await until(async () => (await fleet.view(id)).runs.length === 2 && (await fleet.view(id)).state === 'parked');
  expect((await fleet.view(id)).runs[1]).toMatchObject({ resumedFrom: null, startedWithout: run!.runId });
  await fleet.giveUp(id);
  // Nothing is asked of what is not wanted any more.
  expect(await clean(undefined, other, '--yes')).toMatchObject({ code: 0 });
  expect(await kept(layout)).toEqual([]);
});

test.each([
  ['nothing is kept of it', ['nobody'], /this machine keeps nothing of a task nobody/],
  ['it has a run here', ['live'], /task live has a run here: fleet task live cancel ends it/],
  ['it is of another server', ['foreign'], /task foreign is of the server elsewhere:7233\/default/],
  ['it is no id', ['../x'], /this machine keeps nothing of a task \.\.\/x/],
  ['an age is given as well', ['foreign', '--older-than', '1d'], /--class and --older-than are for tasks that are not/],
  ['no task is named', ['--yes'], /--yes is for tasks that are named/],
])('a task is not removed by name where %s', async (_why, words, said) => {
  await using temp = await tempDir();
  const { layout, keep, origin, clean } = await cleanHome(server, temp.path);
  await keep('foreign', 0, { ...origin, server: 'elsewhere:7233/default' });
  await keep('live', 0);
  await mkdir(`${layout.runs}/live/1-a`, { recursive: true });
  expect(await clean(...words)).toMatchObject({ code: 2, err: expect.stringMatching(said) });
  expect(await kept(layout)).toEqual(['foreign', 'live']);
});
