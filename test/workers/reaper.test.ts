import { expect, jest, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import type { Deps } from '../../src/activities/context.ts';
import { Holds } from '../../src/activities/holds.ts';
import { RunRegistry } from '../../src/adapters/run-registry.ts';
import { names } from '../../src/adapters/kept-tasks.ts';
import { createCoders } from '../../src/coders/registry.ts';
import { endOthers, reap } from '../../src/workers/reaper.ts';
import type { Task } from '../../src/domain/task.ts';
import { git, IDENTITY, makeLab, write, type Lab } from '../helpers/git.ts';
import { makeWorkLab } from '../helpers/work.ts';
import { tempDir } from '../helpers/temp.ts';

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
    await reap(deps, allClosed, log);
  } finally {
    later.mockRestore();
  }
  expect(registry.size).toBe(0);
  expect(git(bare, 'for-each-ref', 'refs/fleet')).toBe('');
  expect(await names(`${lab.home.runs}/.torn/t1-1-a/work`)).not.toEqual([]);
  expect(await names(`${lab.home.vaultOf('repo')}/refs/fleet/t1`)).toEqual(['2-a', '2-a.work']);
  expect(said.join('\n')).toMatch(/the work of run 1-a of t1 cannot be saved: .*\n.*moved to .*t1-1-a/);
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
