import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FAILPOINTS } from '../../src/adapters/failpoint.ts';
import { TestFleet } from '../helpers/fleet.ts';
import { queueLab } from '../helpers/queue-lab.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let other: TestFleet;

const sh = (script: string) => ({ command: ['sh', '-c', `cat > /dev/null; ${script}`], protocol: 'none' as const });

beforeAll(async () => {
  [fleet, other] = await Promise.all([TestFleet.start(), TestFleet.start()]);
  const coders = {
    quick: sh('echo done'),
    stuck: sh('echo cannot >&2; exit 3'),
    maker: sh('echo made > made.txt; git add made.txt; git commit -qm made'),
    endless: sh('sleep 600'),
  };
  await fleet.worker('desk', { worker: { slots: 6, coder: 'quick' }, coders });
});
afterAll(async () => {
  await Promise.all([fleet, other].map((each) => each?.[Symbol.asyncDispose]()));
});

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
const open = (more: object = {}) =>
  json({ description: 'Say done', type: 'message', status: 'pending', task: { verify: ['true'] }, ...more });

let made = 0;
/** A queue with these files, and a fleet of one name at it. */
function lab(files: Record<string, string>, at = fleet) {
  const n = (made += 1);
  const { dir, ...queue } = queueLab(`${at.root}/queue-${n}`, files);
  const url = `${dir}/q.git`;
  const sync = (args: string[], env: Record<string, string> = {}) =>
    at.cli(['sync', ...args], { env: { FLEET_HOME: `${at.root}/sync-${n}`, FLEET_SYNC_NAME: 'berlin', ...env } });
  return {
    ...{ ...queue, dir, url, sync },
    read: (id: string) => JSON.parse(queue.show(`tasks/${id}.json`)) as Record<string, any>,
    round: async (...flags: string[]) =>
      JSON.parse((await sync([url, '--json', ...flags])).stdout) as Record<string, any>,
  };
}
type Lab = ReturnType<typeof lab>;

/** Rounds until the file says so, each once the fleet has something to tell. */
const untilFile = (queue: Lab, id: string, status: string) =>
  until(async () => {
    await queue.round();
    const task = queue.read(id);
    if (task['status'] === status) return task;
    if (task['fleet_task']) await fleet.settled(task['fleet_task']);
    return undefined;
  });

const runsOf = async (id: string): Promise<number> => {
  const reports = await fleet.fleet.list({ all: true });
  const own = new RegExp(`^${id}-[0-9a-f]{8}(-\\d+)?$`);
  return reports.filter((report) => own.test(report.id)).reduce((sum, { runs }) => sum + runs.length, 0);
};

describe('a crash of the syncing process', () => {
  test.concurrent.each([...FAILPOINTS.sync, 'sync.committed:2'])(
    'at %s loses nothing and runs nothing twice',
    async (point) => {
      const id = `crash-${point.replace(/[^a-z0-9]+/g, '-')}`;
      const queue = lab({ [`tasks/${id}.json`]: open() });
      const crashed = await queue.sync([queue.url, '--watch', '--every', '200ms'], { FLEET_FAILPOINT: point });
      expect(crashed.code).toBeUndefined();
      expect(await untilFile(queue, id, 'done')).toMatchObject({
        claimed_by: 'berlin',
        result: { state: 'done', task: expect.stringMatching(new RegExp(`^${id}-[0-9a-f]{8}$`)), attempts: 1 },
      });
      expect(await runsOf(id)).toBe(1);
    },
  );
});

test.concurrent('a task with a repository: its result says where the work is, and by which verdict', async () => {
  const repo = await fleet.repo('shop');
  const task = {
    description: 'Make it',
    title: 'Make',
    custom: { keep: [1, 2] },
    task: { coder: 'maker', verify: ['test -s made.txt'] },
  };
  const queue = lab({ 'tasks/make.json': json(task) });
  expect(await queue.round()).toMatchObject({
    claimed: [],
    problems: [{ message: 'task.repo is required for a task of type code' }],
  });
  expect(await queue.round('--repo', repo)).toMatchObject({ claimed: [{ id: 'make' }], problems: [] });
  const done = await untilFile(queue, 'make', 'done');
  expect(done).toEqual({
    ...task,
    ...{ status: 'done', claimed_by: 'berlin', claimed_at: expect.any(String), completed_at: expect.any(String) },
    fleet_task: done['result'].task,
    result: {
      ...{ state: 'done', task: done['fleet_task'], summary: 'accepted on its receipts', attempts: 1 },
      ...{ branch: `fleet/${done['fleet_task']}`, commit: expect.stringMatching(/^[0-9a-f]{40}$/) },
      verdict: {
        ...{ accepted: true, acceptance: true, doneBy: ['git', 'acceptance'] },
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    },
  });
  expect(Object.keys(done).slice(0, 4)).toEqual(Object.keys(task));
});

test.concurrent('a parked task says so and stays claimed, and is closed once a person has decided', async () => {
  const queue = lab({ 'tasks/park.json': open({ task: { coder: 'stuck', retry: { maxAttempts: 1 } } }) });
  await queue.round();
  await fleet.settled(queue.read('park')['fleet_task']);
  expect(await queue.round()).toMatchObject({ settled: [{ id: 'park', status: 'claimed', state: 'parked' }] });
  const parked = queue.read('park');
  expect(parked).toMatchObject({
    status: 'claimed',
    result: { state: 'parked', task: parked['fleet_task'], summary: expect.any(String) },
  });
  const commits = () => queue.user('ls-remote', 'origin', 'refs/heads/main');
  const before = commits();
  expect(await queue.round()).toMatchObject({ settled: [], counts: { here: 1 } });
  expect(commits()).toBe(before);
  await fleet.fleet.giveUp(parked['fleet_task'], 'not worth it');
  expect(await untilFile(queue, 'park', 'failed')).toMatchObject({ result: { state: 'failed' } });
});

test.concurrent('what is broken, for others, or cannot be run here is left alone, and the rest goes on', async () => {
  const queue = lab({
    'tasks/good.json': open(),
    'tasks/broken.json': '{"id": "x"',
    'tasks/odd.json': open({ task: { coder: 'nobody' } }),
    'tasks/env.json': open({ task: { env: ['HOME'] } }),
    'tasks/away.json': open({ task: { repo: 'http://127.0.0.1:1/x.git' } }),
    'tasks/jean.json': open({ for_agent: 'jean' }),
    'tasks/mine.json': open({ for_agent: 'berlin' }),
    'tasks/hand.json': open({ status: 'claimed', claimed_by: 'berlin' }),
    'tasks/draft.json': open({ status: 'draft' }),
  });
  const ran = await queue.sync([queue.url]);
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^claimed good as good-[0-9a-f]{8}$/m) });
  expect(ran.stdout).toMatch(/3 open, 1 open for others, 2 claimed here, 1 claimed by others, 1 closed$/);
  expect(ran.stderr.split('\n').sort()).toEqual([
    expect.stringMatching(/^tasks\/away\.json http:\/\/127\.0\.0\.1:1\/x\.git cannot be reached: /),
    expect.stringMatching(/^tasks\/broken\.json is no valid JSON: /),
    'tasks/env.json task.env is not for a shared queue to say',
    'tasks/hand.json is claimed as berlin by hand: it is left alone',
    expect.stringMatching(/^tasks\/odd\.json coder nobody is unknown: /),
  ]);
  await untilFile(queue, 'good', 'done');
  await untilFile(queue, 'mine', 'done');
  for (const id of ['odd', 'env', 'away', 'jean']) expect(queue.read(id)['status']).toBe('pending');
});

test.concurrent('no more is claimed than the workers have room for, the most urgent and then the oldest first', async () => {
  const queue = lab({
    'tasks/a.json': open({ created_at: '2026-02-01' }),
    'tasks/b.json': open({ created_at: '2026-01-01' }),
    'tasks/c.json': open({ created_at: '2026-03-01', task: { verify: ['true'], priority: 10 } }),
  });
  const ids = ({ claimed }: Record<string, any>) => claimed.map(({ id }: { id: string }) => id);
  expect(ids(await queue.round('--most', '1'))).toEqual(['c']);
  await untilFile(queue, 'c', 'done');
  const far = lab({ 'tasks/a.json': open() }, other);
  expect(await far.sync([far.url])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('nothing is claimed, as no worker is attached that takes new work'),
  });
  expect(far.read('a')['status']).toBe('pending');
});

test.concurrent('a fleet of the same name on another server leaves the claim alone', async () => {
  const queue = lab({ 'tasks/a.json': open({ task: { coder: 'endless' } }) });
  await queue.round();
  const { fleet_task: id } = queue.read('a');
  const env = { FLEET_HOME: `${other.root}/namesake`, FLEET_SYNC_NAME: 'berlin' };
  const ran = await other.cli(['sync', queue.url, '--most', '5'], { env });
  expect(ran.stderr).toBe(
    'tasks/a.json is claimed as berlin for another server, or by another URL of the queue: it is left alone',
  );
  expect(await other.fleet.list({ all: true })).toEqual([]);
  await fleet.fleet.cancel(id);
  expect(await untilFile(queue, 'a', 'cancelled')).toMatchObject({ result: { state: 'cancelled', task: id } });
});

test.concurrent('what somebody opens again is done again, but not while it is still being done', async () => {
  const queue = lab({ 'tasks/again.json': open({ task: { coder: 'endless' } }) });
  await queue.round();
  const { fleet_task: id } = queue.read('again');
  queue.user('pull', '-q', '--rebase', 'origin', 'main');
  queue.push({ 'tasks/again.json': open({ fleet_task: id }) });
  expect(await queue.round()).toMatchObject({
    claimed: [],
    problems: [
      {
        path: 'tasks/again.json',
        message: `was opened again while the fleet still has it as ${id}: see fleet task ${id}`,
      },
    ],
  });
  await fleet.fleet.cancel(id);
  await fleet.settled(id);
  expect(await queue.round()).toMatchObject({ claimed: [{ id: 'again', task: `${id}-2` }] });
  await fleet.fleet.cancel(`${id}-2`);
  await untilFile(queue, 'again', 'cancelled');
});

test.concurrent('a claim that the server has forgotten is named, and not done again', async () => {
  const queue = lab({ 'tasks/old.json': open({ task: { coder: 'endless' } }) });
  const crashed = await queue.sync([queue.url], { FLEET_FAILPOINT: 'sync.claim-pushed' });
  expect(crashed.code).toBeUndefined();
  const claimed = queue.read('old');
  queue.user('pull', '-q', '--rebase', 'origin', 'main');
  queue.push({ 'tasks/old.json': json({ ...claimed, claimed_at: '2020-01-01T00:00:00.000Z' }) });
  expect(await queue.round()).toMatchObject({
    mended: [],
    problems: [{ message: expect.stringMatching(/^is claimed here as old-\w+, which the server does not know/) }],
  });
});

test.concurrent("claims with one id are not enqueued: which of them is the fleet's cannot be known", async () => {
  const queue = lab({ 'tasks/twin.json': open() });
  await queue.round();
  const { fleet_task: id } = await untilFile(queue, 'twin', 'done');
  queue.user('pull', '-q', '--rebase', 'origin', 'main');
  const claim = { id: 'twin', status: 'claimed', claimed_by: 'berlin', claimed_at: new Date().toISOString() };
  queue.push({
    'tasks/second.json': open({ ...claim, fleet_task: `${id}-2` }),
    'tasks/third.json': open({ ...claim, fleet_task: `${id}-3` }),
  });
  expect(await queue.round()).toMatchObject({
    mended: [],
    problems: ['second', 'third'].map((name, index) => ({
      path: `tasks/${name}.json`,
      message: expect.stringMatching(new RegExp(`^has the id of tasks/\\w+\\.json: .* as ${id}-${index + 2}, and not`)),
    })),
  });
  expect(await runsOf('twin')).toBe(1);
});

test.concurrent('claims that a crash left are enqueued as far as there is room', async () => {
  const endless = open({ task: { coder: 'endless' } });
  const queue = lab({ 'tasks/room-a.json': endless, 'tasks/room-b.json': endless, 'tasks/room-c.json': endless });
  const crashed = await queue.sync([queue.url, '--most', '2'], { FLEET_FAILPOINT: 'sync.claim-pushed' });
  expect(crashed.code).toBeUndefined();
  expect(await queue.round('--most', '1')).toMatchObject({ mended: [{ id: 'room-a' }], claimed: [], problems: [] });
  expect(await queue.round('--most', '1')).toMatchObject({ mended: [], claimed: [] });
  expect(await queue.round('--most', '3')).toMatchObject({ mended: [{ id: 'room-b' }], claimed: [{ id: 'room-c' }] });
  for (const id of ['room-a', 'room-b', 'room-c']) await fleet.fleet.cancel(queue.read(id)['fleet_task']);
});
