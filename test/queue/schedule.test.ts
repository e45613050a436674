import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { enqueueOnce } from '../../src/client/start/enqueue-once.ts';
import { loadConfig } from '../../src/config.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

/** Tasks on a calendar, on a real server. */

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
  await writeFile(`${fleet.root}/two.yaml`, 'objective: a\ntype: message\n---\nobjective: b\ntype: message\n');
  await writeFile(`${fleet.root}/id.yaml`, 'objective: a\ntype: message\nid: x\n');
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

const add = (...args: string[]) => fleet.cli(['schedule', 'add', ...args, '--type', 'message', '--verify', 'true']);
/** What the server itself has. */
async function names(): Promise<string[]> {
  const found: string[] = [];
  for await (const { scheduleId } of fleet.client.schedule.list()) found.push(scheduleId);
  return found;
}

describe('bad input is one sentence, and leaves nothing behind', () => {
  test.concurrent.each([
    ['a day that never comes', ['x1', 'y', '--cron', '0 0 30 2 *'], /^fleet: 0 0 30 2 \* never fires$/],
    ['a year that is over', ['x2', 'y', '--cron', '0 0 1 1 * 2020'], /never fires$/],
    ['minute 61', ['x3', 'y', '--cron', '61 * * * *'], /^fleet: 61 \* \* \* \* is no calendar: Minute is not in range/],
    ['words', ['x4', 'y', '--cron', 'soon'], /^fleet: soon is no calendar/],
    [
      'an unknown zone',
      ['x5', 'y', '--cron', '0 2 * * *', '--timezone', 'Mars/X'],
      /is no calendar: unknown time zone Mars\/X$/,
    ],
    ['no calendar', ['x6', 'y'], /^fleet: either --cron or --every is required$/],
    [
      'two calendars',
      ['x7', 'y', '--cron', '@daily', '--every', '1h'],
      /^fleet: either --cron or --every is required$/,
    ],
    [
      'a zone without a cron',
      ['x8', 'y', '--every', '1h', '--timezone', 'UTC'],
      /^fleet: --timezone goes with --cron only$/,
    ],
    ['no duration', ['x9', 'y', '--every', 'often'], /^fleet: --every must be a duration/],
    ['a name that is none', ['X Y', 'y', '--every', '1h'], /^fleet: the name of a schedule must be lower-case words/],
    ['a name that leaves no room', ['x'.repeat(41), 'y', '--every', '1h'], /^fleet: the name of a schedule must be/],
    ['no objective', ['x10', '--every', '1h'], /^fleet: objective is required/],
    ['a wrong task', ['x11', 'y', '--every', '1h', '--priority', '101'], /^fleet: --priority must be at most 100$/],
    ['an unknown coder', ['x12', 'y', '--every', '1h', '--coder', 'nobody'], /^fleet: --coder nobody is unknown/],
    ['two tasks', ['x13', '--file', 'two.yaml', '--every', '1h'], /^fleet: two\.yaml must hold one task, not 2/],
    ['a task with an id', ['x14', '--file', 'id.yaml', '--every', '1h'], /^fleet: id\.yaml must give no id/],
  ])('%s', async (_, args, message) => {
    const { code, stderr, stdout } = await add(...args);
    expect([code, stdout, stderr.split('\n').length]).toEqual([2, '', 1]);
    expect(stderr).toMatch(message);
  });

  test.concurrent.each(['show', 'pause', 'resume', 'trigger', 'remove'])('an unknown name to %s', async (action) => {
    const { code, stderr } = await fleet.cli(['schedule', action, 'nope']);
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'fleet: there is no schedule nope']);
  });

  test('an unknown action', async () => {
    expect((await fleet.cli(['schedule', 'frobnicate'])).stderr).toMatch(
      /^fleet: frobnicate is nothing to do with schedules: add, /,
    );
    expect(await names()).toEqual([]);
  });
});

test('a schedule is added, listed, paused, resumed and removed', async () => {
  const added = await add('nightly', 'Look around', '--cron', '0 2 * * *', '--timezone', 'Europe/Berlin', '--json');
  expect(JSON.parse(added.stdout)).toMatchObject({ name: 'nightly', next: expect.stringMatching(/T0[01]:00:00/) });
  const again = await add('nightly', 'Look around', '--every', '1h');
  expect(again).toMatchObject({
    code: 2,
    stderr: 'fleet: there is a schedule nightly already: see fleet schedule show nightly',
  });
  const listed = await until(async () => {
    const { stdout } = await fleet.cli(['schedule', 'list']);
    return stdout.includes('nightly') && stdout;
  });
  expect(listed).toMatch(/nightly +0 2 \* \* \* \(Europe\/Berlin\) +20/);
  await fleet.cli(['schedule', 'pause', 'nightly'], { env: { USER: 'jean' } });
  expect(await fleet.fleet.schedules.show('nightly')).toMatchObject({
    paused: true,
    note: 'by jean',
    open: [],
    made: 0,
  });
  await fleet.cli(['schedule', 'resume', 'nightly']);
  expect((await fleet.cli(['schedule', 'show', 'nightly'])).stdout).toContain('objective  Look around');
  expect((await fleet.fleet.schedules.show('nightly')).paused).toBe(false);
  expect((await fleet.cli(['schedule', 'remove', 'nightly'])).stdout).toBe('schedule nightly is removed');
  await until(async () => !(await names()).includes('schedule/nightly'));
});

test('it makes a task at its time, and no other while that one is open', async () => {
  await using _ = await fleet.worker('clock', { coders: { mine: agent('forever.sh') }, worker: { coder: 'mine' } });
  await add('often', 'Look around', '--every', '2s', '--deliver', 'none');
  const ids = async () => (await fleet.fleet.list({ all: true })).map(({ id }) => id);
  const [first] = await until(async () => (await ids()).length > 0 && (await ids()));
  expect(first).toMatch(/^often-20\d{6}t\d{6}z$/);
  await fleet.running(first!);
  await slowly(async () => (await fleet.fleet.schedules.show('often')).skipped >= 2);
  expect(await ids()).toEqual([first]);
  const refused = await fleet.cli(['schedule', 'trigger', 'often']);
  expect(refused.stderr).toBe(`fleet: the last task of often is open: see fleet explain ${first}`);

  await fleet.fleet.schedules.pause('often', '');
  await slowly(async () => (await fleet.fleet.schedules.show('often')).paused);
  await fleet.fleet.cancel(first!);
  await fleet.settled(first!);
  const { stdout: second, stderr } = await fleet.cli(['schedule', 'trigger', 'often']);
  expect([stderr, second === first]).toEqual(['', false]);
  await fleet.running(second);
  await fleet.fleet.schedules.remove('often');
  await fleet.fleet.cancel(second);
  expect((await fleet.settled(second)).state).toBe('cancelled');
});

test('what is refused at its time is said, and makes no task', async () => {
  await using _ = await fleet.worker('refuser', { worker: { queues: ['refused'] } });
  const repo = await fleet.repo('moved');
  const env = { FLEET_QUEUES: 'refused' };
  const file = `${fleet.root}/moved.yaml`;
  await writeFile(file, `objective: x\nqueue: refused\nrepo: ${repo}\n`);
  expect((await fleet.cli(['schedule', 'add', 'moved', '--cron', '@yearly', '--file', file], { env })).code).toBe(0);
  await rm(repo, { recursive: true });
  const { stderr, code } = await fleet.cli(['schedule', 'trigger', 'moved']);
  expect([stderr.split('\n')[0], code]).toEqual([
    expect.stringMatching(/^fleet: .*moved does not exist on this machine$/),
    1,
  ]);
  expect((await fleet.cli(['schedule', 'show', 'moved'])).stdout).toContain('not in the queue: it was refused');
});

test('a remote that is away is no fault of the task: it is to be tried again', async () => {
  const wire = { client: fleet.client, config: loadConfig({ home: `${fleet.root}/client`, env: {} }) };
  const at = (repo: string) => enqueueOnce(wire, { id: 'away', input: { objective: 'x', repo } });
  await expect(at('http://127.0.0.1:1/x.git')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await at(`file://${fleet.root}/none.git`)).toMatchObject({ is: 'refused' });
  const there = await fleet.repo('there');
  expect(await at(`file://${there}`)).toEqual({ is: 'created' });
  expect(await at(`file://${there}`)).toEqual({ is: 'there' });
  await fleet.fleet.cancel('away');
});

/** A schedule is asked about less often than other things: the server looks at what it has started each time. */
const slowly = (check: () => Promise<boolean>) =>
  until(async () => (await check()) || (await new Promise<false>((resolve) => setTimeout(resolve, 300, false))));
