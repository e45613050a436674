import { expect, jest, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import type { Deps } from '../../../src/activities/worker/context.ts';
import { Holds } from '../../../src/activities/worker/claim-holds.ts';
import { RunRegistry } from '../../../src/adapters/state/run-registry.ts';
import { names } from '../../../src/adapters/state/retained-tasks.ts';
import { createCoders } from '../../../src/coders/registry.ts';
import { endOthers, reap } from '../../../src/workers/health/reaper.ts';
import { TroubleLog } from '../../../src/workers/health/trouble-log.ts';
import type { Task } from '../../../src/domain/task/schema.ts';
import { git, IDENTITY, makeLab, write, type Lab } from '../../helpers/git.ts';
import { makeWorkLab } from '../../helpers/work.ts';
import { tempDir } from '../../helpers/temp.ts';

/** A worker that holds two runs of task t1, of which the first one's work cannot be saved. */
async function twoRuns(lab: Lab, task: Partial<Task> = {}) {
  const at = makeWorkLab(lab, task);
  const registry = await RunRegistry.open(lab.home, 's');
  for (const n of [1, 2]) {
    const { tree: _, ...record } = await at.run(n);
    write(lab.home.run('t1', `${n}-a`).tree, { 'b.txt': `by ${n}` });
    const baseDir = n === 1 ? `${lab.home.bases}/gone.git` : lab.baseDir;
    const prepared = { ...record.prepared, baseDir };
    await registry.claim({ ...record, prepared }, 2);
  }
  const said: string[] = [];
  const log = (line: string) => said.push(line);
  const keeper = {
    stop: async () => ({ stopping: false }),
    wait: async () => ({ state: 'unknown' }),
    forget: async () => undefined,
  };
  const disk = { room: async () => undefined, giveUpReserve: () => false, excess: async () => undefined };
  const deps = {
    ...{ home: lab.home, config: { git: IDENTITY, keep: { orphaned: '7d' } }, registry, keeper, disk, log },
    ...{ knownCoders: createCoders(), coders: new Map(), holds: new Holds(), inContact: () => true },
    ...{ rollback: { noticed: false, look: async () => undefined } },
    ...{ tally: { counts: () => false }, worker: { name: 'w', hostQueue: 'host/w-1' } },
  } as unknown as Deps;
  return { registry, deps, said, log };
}

const allClosed = {
  workflow: {
    getHandle: () => ({ describe: async () => ({ status: { name: 'COMPLETED' }, memo: { record: { debts: [] } } }) }),
  },
  withDeadline: (_: number, call: () => unknown) => call(),
} as unknown as Client;

test('a run whose work cannot be saved is moved aside, and keeps neither its slot nor the others', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { 'a.txt': 'a\n' });
  const bare = `${temp.path}/remote.git`;
  git(temp.path, 'clone', '-q', '--bare', lab.repo, bare);
  git(bare, 'update-ref', 'refs/fleet/t1/wip', 'HEAD');
  const { registry, deps, said, log } = await twoRuns(lab, { repo: `file://${bare}` });
  const now = performance.now();
  const later = jest.spyOn(performance, 'now').mockImplementation(() => now + 60_000);
  try {
    await reap(deps, allClosed, new TroubleLog(log));
  } finally {
    later.mockRestore();
  }
  expect(registry.size).toBe(0);
  expect(git(bare, 'for-each-ref', 'refs/fleet')).toBe('');
  expect(await names(`${lab.home.runs}/.torn/t1-1-a/work`)).not.toEqual([]);
  expect(await names(`${lab.home.vaultOf('repo')}/refs/fleet/t1`)).toEqual(['2-a', '2-a.work']);
  expect(said.join('\n')).toMatch(/the work of run 1-a of t1 cannot be saved: .*\n.*moved to .*t1-1-a/);
});

test('a server that does not answer is said once, with the task and the cause, until it answers again', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { 'a.txt': 'a\n' });
  const { deps, said, log } = await twoRuns(lab);
  const cause = Object.assign(new Error('4 DEADLINE_EXCEEDED'), { details: 'Deadline exceeded' });
  const gone = async () => Promise.reject(new Error('Failed to describe workflow', { cause }));
  const silent = {
    workflow: { getHandle: () => ({ describe: gone }) },
    withDeadline: (_: number, call: () => unknown) => call(),
  } as unknown as Client;
  const troubles = new TroubleLog(log);
  for (let round = 0; round < 3; round += 1) await reap(deps, silent, troubles);
  expect(said).toEqual([
    'the record of worker w cannot be read: Failed to describe workflow: Deadline exceeded; it is tried again, and not said again',
  ]);
  await reap(deps, allClosed, troubles);
  await reap(deps, silent, troubles);
  expect(said).toHaveLength(3);
});

test('a worker starts though work of a run of another server cannot be saved', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { 'a.txt': 'a\n' });
  const { said, deps, log } = await twoRuns(lab);
  const registry = await RunRegistry.open(lab.home, 'another');
  await endOthers({ ...deps, registry }, log);
  expect(said.join('\n')).toMatch(/the work of run 1-a of t1 cannot be saved/);
  expect(await names(`${lab.home.vaultOf('repo')}/refs/fleet/t1`)).toEqual(['2-a', '2-a.work']);
  expect(registry.ofOthers()).toHaveLength(2);
});

test('the folders of a server that was left go long after that, however old the runs, and nothing that they made is lost', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { 'a.txt': 'a\n' });
  const { deps: others, said, log } = await twoRuns(lab);
  const excess = async ({ runId }: { runId: string }) => {
    if (runId === '1-a') throw new Error('its folder cannot be read');
    return undefined;
  };
  const away = await RunRegistry.open(lab.home, 'another');
  const deps = { ...others, registry: away, disk: { ...others.disk, excess } };
  await endOthers(deps, log);
  const folders = () => names(`${lab.home.runs}/t1`);
  for (const run of away.ofOthers()) run.claimedAt = '2020-01-01T00:00:00Z';
  await reap(deps, allClosed, new TroubleLog(log));
  expect(await folders()).toEqual(['1-a', '2-a']);

  const days = (n: number) => new Date(Date.now() - n * 86_400_000).toISOString();
  for (const run of away.ofOthers()) run.leftAt = days(6);
  await reap(deps, allClosed, new TroubleLog(log));
  expect(await folders()).toEqual(['1-a', '2-a']);

  write(lab.home.run('t1', '2-a').tree, { 'late.txt': 'written since' });
  for (const run of away.ofOthers()) run.leftAt = days(8);
  await reap(deps, allClosed, new TroubleLog(log));
  expect(await folders()).toEqual([]);
  expect(away.ofOthers()).toEqual([]);
  expect(git(lab.home.vaultOf('repo'), 'show', 'refs/fleet/t1/2-a:late.txt')).toBe('written since');
  expect(await names(`${lab.home.runs}/.torn/t1-1-a/work`)).not.toEqual([]);
  expect(said.join('\n')).toMatch(/run 1-a of t1 cannot be saved: .* be read\nit was moved to .*t1-1-a/);
});

test('a server that comes back and is left again starts its time anew, across restarts of the worker', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, { 'a.txt': 'a\n' });
  const { deps, log } = await twoRuns(lab);
  const attach = async (server: string) => {
    const registry = await RunRegistry.open(lab.home, server);
    await endOthers({ ...deps, registry }, log);
    return registry;
  };
  const [left] = (await attach('another')).ofOthers();
  const [still] = (await attach('another')).ofOthers();
  expect(still!.leftAt).toBe(left!.leftAt);
  await attach('s');
  expect((await RunRegistry.open(lab.home, 's')).list().map(({ leftAt }) => leftAt)).toEqual([undefined, undefined]);
  const [again] = (await attach('another')).ofOthers();
  expect(again!.leftAt! > left!.leftAt!).toBe(true);
});
