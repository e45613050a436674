import { readdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FAILPOINTS, type Failpoint } from '../../src/adapters/failpoint.ts';
import type { TaskReport } from '../../src/client/read/view.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { strays } from '../helpers/strays.ts';
import { keeperIn } from '../helpers/live-agents.ts';
import { until } from '../helpers/until.ts';
import { readLog } from './lab.ts';

/**
 * `whole`: accepted at once. `half`: the first run is rejected, the second one accepted. `gated`: accepted, kept without a slot,
 * and delivered when a person says yes. `handed`: made by somebody outside the fleet. `half-shared`: as half, of a remote that takes
 * the work in progress. `joined`: starts from the results of two other tasks.
 */
const STORIES = ['whole', 'half', 'gated', 'handed', 'half-shared', 'joined'] as const;
type Story = (typeof STORIES)[number];
/** What a task that a crash has disturbed must have in common with one that went in peace. */
interface End {
  state: string;
  accepted: boolean | undefined;
  receipts: [kind: string, ok: boolean][];
  tree: string;
  commits: string;
  attempts: number;
}
interface Told {
  end: End;
  /** By run, oldest first: why it was not accepted, and how often its agent was started. */
  runs: { reason: string | null; starts: number }[];
}

let fleet: TestFleet;
let repo: string;
let bare: string;
/** Two tasks that are done, with a result each. */
let parents: string[];
const calm = new Map<Story, Told>();

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('repo');
  await git(repo, 'switch', '-q', '-c', 'handed-in');
  await writeFile(`${repo}/left.txt`, 'by jean\n');
  await git(repo, 'add', '-A');
  await git(repo, '-c', 'user.name=Jean', '-c', 'user.email=jean@x', 'commit', '-qm', 'Add left.txt');
  await git(repo, 'switch', '-q', 'main');
  bare = `${fleet.root}/bare.git`;
  await git(repo, 'clone', '-q', '--bare', repo, bare);
  parents = await twoResults();
  for (const story of STORIES) calm.set(story, await tell(`calm-${story}`, story));
  expect(calm.get('whole')!.runs).toEqual([{ reason: null, starts: 1 }]);
  for (const story of ['half', 'half-shared'] as const)
    expect(calm.get(story)!.runs).toEqual([
      { reason: 'receipts-rejected', starts: 1 },
      { reason: null, starts: 1 },
    ]);
  for (const story of ['gated', 'joined'] as const)
    expect(calm.get(story)!.runs).toEqual([{ reason: null, starts: 1 }]);
  expect(calm.get('handed')!.runs).toEqual([{ reason: null, starts: 0 }]);
}, 240_000);

async function twoResults(): Promise<string[]> {
  const writes = (file: string) => ({ command: ['sh', '-c', `echo x > ${file}`], protocol: 'none' as const });
  const coders = { one: writes('one.txt'), two: writes('two.txt') };
  const worker = await fleet.worker('parents', { worker: { slots: 2, queues: ['parents'] }, coders });
  const ids = ['one', 'two'].map((coder) => fleet.fleet.enqueue({ objective: coder, repo, queue: 'parents', coder }));
  const done = await Promise.all(ids.map(async (id) => fleet.settled(await id)));
  await worker.stop('SIGTERM');
  return done.map(({ id }) => id);
}
afterAll(() => fleet[Symbol.asyncDispose]());

const start = (name: string, env: Record<string, string> = {}): Promise<TestWorker> =>
  fleet.worker(
    name,
    {
      lease: { heartbeat: '3s', grace: '45s', selfKill: '30s' },
      worker: { slots: 2, queues: [name] },
      coders: { maker: agent('commit-and-leave.sh') },
    },
    { env },
  );

const wants = (story: Story): Partial<TaskInput> => WANTS[story]();
const WANTS: Record<Story, () => Partial<TaskInput>> = {
  whole: () => ({ coder: 'maker' }),
  half: () => ({ coder: 'maker' }),
  gated: () => ({ coder: 'maker', approval: 'before-deliver' }),
  handed: () => ({ for: 'jean' }),
  'half-shared': () => ({ coder: 'maker', repo: `file://${bare}` }),
  joined: () => ({ coder: 'maker', dependsOn: parents }),
};

/** What people do meanwhile. */
async function people(id: string, story: Story): Promise<void> {
  const reaches = (holds: (view: TaskReport) => unknown) =>
    until(async () => holds(await fleet.fleet.view(id)), { timeoutMs: 120_000 });
  if (story === 'gated') {
    await reaches(({ state }) => state === 'awaiting-approval');
    await fleet.fleet.approve(id, { by: 'jean', why: 'read it' });
  }
  if (story === 'handed') {
    await reaches(({ message }) => message?.startsWith('waits for '));
    await fleet.fleet.claimFor(id, { as: 'jean', leaseMs: 600_000 });
    await fleet.fleet.completeFor(id, { as: 'jean', result: 'made', commit: 'handed-in' });
  }
}

/** Waits for the fault to come to this worker, or to its keeper by pid, and gives the worker that goes on. */
type Strike = (worker: TestWorker, keeper: number) => Promise<TestWorker>;

/** One task from start to end, disturbed on the way; nothing of it is left but its branch and its record. */
async function tell(name: string, story: Story, fault?: { point: Failpoint; strike: Strike }): Promise<Told> {
  let worker = await start(name, fault ? { FLEET_FAILPOINT: fault.point } : {});
  const keeper = fault && (await until(() => keeperIn(worker.home)));
  const id = await fleet.fleet.enqueue({
    ...{ objective: story, repo, queue: name, verify: ['test -e left.txt'], ...wants(story) },
    retry: { backoff: '1s' },
  });
  const said = people(id, story);
  if (keeper) worker = await fault.strike(worker, keeper);
  await said;
  const report = await fleet.settled(id);

  // A claim that its task never heard of is the reaper's, which waits.
  await until(async () => (await readdir(`${worker.home}/runs`)).every((entry) => entry === '.trash'), {
    timeoutMs: 60_000,
  });
  expect((await worker.view()).slots.used).toBe(0);
  expect(await strays(`${worker.home}/runs/`)).toEqual([]);
  const own = story === 'handed' ? [] : report.runs;
  const logs = await Promise.all(own.map(({ n }) => readLog(worker, id, n)));
  const starts = logs.map((log) => log.toString().match(/^started/gm)?.length ?? 0);
  await worker.stop('SIGTERM');
  await until(async () => (await strays(worker.home)).length === 0, { timeoutMs: 20_000 });
  await until(async () => (await keeperIn(worker.home)) === undefined);

  const at = story === 'half-shared' ? bare : repo;
  const refs = await git(at, 'for-each-ref', '--format=%(refname)', `refs/heads/fleet/${id}*`, `refs/fleet/${id}`);
  expect(refs).toBe(`refs/heads/fleet/${id}`);
  return {
    end: {
      state: report.state,
      accepted: report.verdict?.accepted,
      receipts: report.receipts.map(({ kind, ok }) => [kind, ok]),
      tree: await git(at, 'rev-parse', `fleet/${id}^{tree}`),
      commits: await git(at, 'log', '--format=%s %an', `main..fleet/${id}`),
      attempts: report.attempts.used,
    },
    runs: report.runs.map(({ reason, message }, i) => ({
      reason: reason === 'host-lost' ? `${reason}: ${message}` : reason,
      starts: starts[i] ?? 0,
    })),
  };
}

/** The worker dies of its kill point, and is started again. */
async function workerDies(worker: TestWorker): Promise<TestWorker> {
  let dead = false;
  void worker.exited.then(() => (dead = true));
  await until(() => dead, { timeoutMs: 60_000 });
  expect(await worker.exited).toBeNull();
  await worker.stop();
  return start(nameOf(worker));
}

async function keeperDies(worker: TestWorker, keeper: number): Promise<TestWorker> {
  await until(async () => (await keeperIn(worker.home)) !== keeper, { timeoutMs: 60_000 });
  return worker;
}

async function bothDie(worker: TestWorker, keeper: number): Promise<TestWorker> {
  await keeperDies(worker, keeper);
  await worker.stop('SIGKILL');
  return start(nameOf(worker));
}

const nameOf = ({ home }: TestWorker): string => home.slice(home.lastIndexOf('/') + 1);
const label = (point: Failpoint, more = ''): string => `${point.replace(/\W/g, '-')}${more}`;

describe('F23, F24: a worker that dies between two steps loses and doubles nothing', () => {
  const ofHalf: readonly Failpoint[] = ['save.kept', 'verify.rejected-kept', 'release.ended', 'release.removed'];
  const ofWhole = FAILPOINTS.worker.filter((point) => point !== 'save.kept');

  async function proves(point: Failpoint, story: Story): Promise<void> {
    expect(await tell(label(point, `-${story}`), story, { point, strike: workerDies })).toEqual(calm.get(story));
  }
  test.concurrent.each(ofWhole)('at %s', (point) => proves(point, 'whole'), 240_000);
  test.concurrent.each([...FAILPOINTS.kept, 'deliver.objects-copied', 'deliver.branch-made', 'release.ended'] as const)(
    'at %s of a result that waited for a yes',
    (point) => proves(point, 'gated'),
    240_000,
  );
  test.concurrent.each([...FAILPOINTS.outside, 'verify.captured'] as const)(
    'at %s of what was handed in',
    (point) => proves(point, 'handed'),
    240_000,
  );
  test.concurrent.each(FAILPOINTS.shared)(
    'at %s of a run whose work is shared',
    (point) => proves(point, 'half-shared'),
    240_000,
  );
  test.concurrent.each(['deliver.objects-copied', 'deliver.branch-made', 'worktree.prepared'] as const)(
    'at %s of a run on the results of two tasks',
    (point) => proves(point, 'joined'),
    240_000,
  );
  test.concurrent.each(ofHalf)('at %s of a run that is rejected', (point) => proves(point, 'half'), 240_000);
});

describe('F23: a keeper that dies between two steps takes its agent along, and nothing else', () => {
  /** From here on its successor knows how the run ended. */
  const known: Failpoint = 'keeper.exit-recorded';

  async function proves(point: Failpoint, strike: Strike): Promise<void> {
    const { end, runs } = await tell(label(point, strike === bothDie ? '-both' : ''), 'whole', { point, strike });
    const { end: calmEnd, runs: calmRuns } = calm.get('whole')!;
    expect(end).toEqual(calmEnd);
    if (point === known) return expect(runs).toEqual(calmRuns);
    const [lost, ...later] = runs;
    expect(lost!.reason).toMatch(/^host-lost: /);
    expect(lost!.starts).toBeLessThanOrEqual(1);
    expect(later).toEqual(calmRuns);
  }
  test.concurrent.each(FAILPOINTS.keeper)('at %s', (point) => proves(point, keeperDies), 240_000);
  test.concurrent.each(FAILPOINTS.keeper)('at %s, and its worker with it', (point) => proves(point, bothDie), 240_000);
});
