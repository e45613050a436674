import type { Deps } from '../../src/activities/worker/context.ts';
import { findWork, takeUp } from '../../src/activities/prepare/resume.ts';
import { createPrivateRepo } from '../../src/adapters/git/worktree/private-repo.ts';
import type { Prepared, RunRecord } from '../../src/adapters/state/run-registry.ts';
import { snapshotUntracked } from '../../src/adapters/git/capture/walk.ts';
import { createCoders } from '../../src/coders/registry.ts';
import { mergePolicy, repoFile } from '../../src/domain/repository/repo-policy.ts';
import { taskInput, type Task } from '../../src/domain/task/schema.ts';
import { IDENTITY, type Lab } from './git.ts';

export interface WorkLab {
  deps: Deps;
  /** The runs that this worker holds, by id. */
  runs: Map<string, RunRecord>;
  /** What the worker was told to log. */
  said: string[];
  /** Makes run `<n>-a`, whose worktree is at the base. */
  run(n: number, extra?: Partial<Prepared>): Promise<RunRecord & { prepared: Prepared; tree: string }>;
}

/** The activities' view of a worker that holds runs of task t1 on the lab's repository. */
export function makeWorkLab(lab: Lab, asked: Partial<Task> = {}): WorkLab {
  const task = taskInput.parse({ objective: 'Work', ...asked });
  const policy = mergePolicy(task, repoFile.parse({}));
  const runs = new Map<string, RunRecord>();
  const said: string[] = [];
  const deps = {
    home: lab.home,
    config: { git: IDENTITY },
    knownCoders: createCoders(),
    registry: { find: ({ runId }: { runId: string }) => runs.get(runId) },
    inContact: () => true,
    log: (line: string) => said.push(line),
  } as unknown as Deps;
  return {
    ...{ deps, runs, said },
    run: async (n, extra = {}) => {
      const runId = `${n}-a`;
      const { tree } = lab.home.run('t1', runId);
      const { base, baseDir } = lab;
      await createPrivateRepo({ tree, baseDir, commit: base, branch: 'fleet/t1', identity: IDENTITY });
      const prepared = {
        ...{ resumed: null, task, policy, base, baseDir, repoKey: 'repo' },
        ...{ checkout: null, sealed: [], submodules: [], preexisting: {}, ...extra },
      } as unknown as Prepared;
      const record = {
        ...{
          taskId: 't1',
          runId,
          n,
          coder: 'claude',
          credential: null,
          structured: true,
          server: 's',
          workflowRunId: 'w',
        },
        ...{ claimedAt: new Date().toISOString(), prepared },
      };
      runs.set(runId, record);
      return { ...record, tree };
    },
  };
}

/** Run `n`'s worktree, with the work of the run before it laid out. */
export async function goOn(
  lab: Lab,
  at: WorkLab,
  { n = 2, from = ['1-a'], setup = (_: string) => {}, task = {} as Partial<Task> } = {},
) {
  const run = await at.run(n);
  setup(run.tree);
  const { base, baseDir } = lab;
  const preexisting = await snapshotUntracked({ tree: run.tree, baseDir, base });
  const order = { taskId: 't1', runId: run.runId, task: task as Task, resume: { runIds: from, why: 'it stalled' } };
  const found = await findWork(at.deps, order, run.prepared);
  if (!found) return { ...run, found, resumed: null };
  const taken = await takeUp(at.deps, { ...order, coder: run.coder }, { found, base, baseDir });
  for (const path of taken?.paths ?? []) delete preexisting[path];
  run.prepared.preexisting = preexisting;
  run.prepared.resumed = taken?.resumed ?? null;
  return { ...run, found, resumed: taken?.resumed ?? null };
}
