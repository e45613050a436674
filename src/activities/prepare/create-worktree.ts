import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { runContained } from '../../adapters/keeper/contained.ts';
import { commonBase } from '../../adapters/git/source/common-base.ts';
import { copyIgnored } from '../../adapters/git/worktree/copy-ignored.ts';
import { lookElsewhere } from '../../adapters/git/capture/tamper-check.ts';
import { treeEntries } from '../../adapters/git/entries.ts';
import { changedInSubmodules, laySubmodules, pathsOf } from '../../adapters/git/worktree/lay-submodules.ts';
import { createPrivateRepo } from '../../adapters/git/worktree/private-repo.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import { snapshotUntracked } from '../../adapters/git/capture/walk.ts';
import { failpoint } from '../../adapters/failpoint.ts';
import { writeJson } from '../../adapters/disk/json-file.ts';
import { copyNote } from '../../adapters/state/notes.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import { doneByOf } from '../../domain/evidence/done-by.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import type { TaskOrigin } from '../../domain/worker/retention.ts';
import { branchOf } from '../../domain/names.ts';
import { isOutside, type Submission } from '../../domain/people/external-agent.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import type { Prepared as Answer, RunRef } from '../../domain/view/task-view.ts';
import type { ResumeFrom } from '../../domain/agent/saved-work.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Result } from '../../domain/people/waiting.ts';
import { isUnstartable } from '../../receipts/trial/cannot-start.ts';
import { missing, isolationPlan, requireRun, type Deps } from '../worker/context.ts';
import { runSetup } from './install-packages.ts';
import { joinResults } from './join-results.ts';
import { environment } from '../worker/environment.ts';
import { onSoundBase, openOrigin, placesOf } from './origin.ts';
import { readRunPolicy } from './read-policy.ts';
import { findWork, takeUp } from './resume.ts';
import { submodulesFrom } from './submodules.ts';
import { cancellable } from '../worker/heartbeat.ts';
import { noteWork } from '../worker/ledger-entry.ts';
import { withWay, type Out } from './network.ts';
import { continueFrom } from './continue-from.ts';
import { refusedVariable } from './variables.ts';

/**
 * `results`: of the tasks that this one depends on, to start from instead of the base. `handedIn`: what an agent outside the
 * fleet wants judged.
 */
export type WorktreeInput = RunRef & {
  task: Task;
  base: string | null;
  resume: ResumeFrom | null;
  results?: Result[];
  handedIn?: Submission;
};

/** Makes the run's private repository and worktree ready for the agent; a second call finds what the first one made. */
export async function createWorktree(deps: Deps, order: WorktreeInput): Promise<Answer> {
  const record = requireRun(deps, order);
  await noteWork(deps, order);
  if (record.prepared) return answerOf(deps, record.coder, record.prepared);
  const refused = isOutside(record.coder) ? undefined : refusedVariable(deps, order.task.env ?? []);
  if (refused) return { ok: false, failure: refused };
  return cancellable(
    () => ({ runId: order.runId, state: 'setting-up' }),
    (signal) => deps.registry.using(order, () => prepare(deps, order, { n: record.n, coder: record.coder, signal })),
  );
}

async function prepare(
  deps: Deps,
  order: WorktreeInput,
  { n, coder, signal }: { n: number; coder: string; signal: AbortSignal },
): Promise<Answer> {
  signal.throwIfAborted();
  const { home } = deps;
  const files = home.run(order.taskId, order.runId);
  const kept = home.task(order.taskId);
  await mkdir(kept.runOf(n).dir, { recursive: true });
  await writeJson(kept.origin, { server: deps.server, worker: deps.worker.name } satisfies TaskOrigin);

  // 1. Where the repository comes from, and the commit to start from.
  const { repo } = order.task;
  const joined = repo && order.results && (await joinResults(deps, order, { repo, results: order.results, signal }));
  if (joined && !joined.ok) return joined;
  const common = await commonWith(deps, order, signal);
  const from = common ?? (joined ? joined.base : order.base);
  const open = () => openOrigin(deps, { ...order, base: from, signal });
  const origin = await open();
  if (!origin.ok) return origin;
  deps.registry.borrow(order, origin.baseDir);

  // What a killed attempt had laid out must not look like setup's.
  if (order.resume || order.task.continueFrom || common) await removeTree(files.tree);
  const laid = await onSoundBase(origin.baseDir, {
    open,
    work: () => layOut(deps, order, { ...origin, coder, signal }),
  });
  if (!laid.ok) return laid;
  const { policy, submodules } = laid;
  const reviewer = policy.review?.coder;
  // Before a token is used for what nobody could review.
  if (reviewer && !deps.coders.has(reviewer)) return { ok: false, failure: missing(deps, reviewer) };
  failpoint('worktree.repository-made');
  await Promise.all(
    [files.agentHome, files.tmp, files.notes, files.outbox].map((dir) => mkdir(dir, { recursive: true })),
  );
  await bringNotes(deps, order);

  // 4. Files and dependencies that a checkout needs; where no agent will work in it, it needs none.
  const made = policy.setup.length + policy.copy.length > 0 && !isOutside(coder);
  if (made && policy.copy.length > 0 && origin.checkout) {
    await copyIgnored({ checkout: origin.checkout, tree: files.tree, globs: policy.copy });
  }
  const failed = made && (await setUp(deps, order, { ...origin, policy, n, repo, signal }));
  if (failed) return { ok: false, failure: failed };
  const { base, baseDir } = origin;
  const preexisting = made ? await snapshot({ tree: files.tree, baseDir, base, submodules }) : {};

  // 5. The work of an earlier run, or what the task is to go on from, last: so that none of it counts as what setup made.
  const found = order.resume && (await findWork(deps, { ...order, resume: order.resume }, origin));
  const taken = found && (await takeUp(deps, { ...order, coder }, { found, base, baseDir }));
  if (found && !taken) {
    await removeTree(files.tree);
    return prepare(deps, { ...order, resume: null }, { n, coder, signal });
  }
  const { continueFrom: ref } = order.task;
  const maxBytes = policy.limits.diskBytes;
  const goesOn =
    !taken && repo && ref ? await continueFrom(deps, order, { repo, ref, base, baseDir, maxBytes, signal }) : undefined;
  if (goesOn && !goesOn.ok) return goesOn;
  const start = taken ?? goesOn;
  for (const path of start?.paths ?? []) delete preexisting[path];

  const prepared: Prepared = {
    ...{ task: order.task, policy, base: origin.base, baseDir: origin.baseDir, submodules },
    ...{ repoKey: origin.repoKey, checkout: origin.checkout, sealed: origin.sealed },
    ...{ resumed: start?.resumed ?? null, preexisting, elsewhere: lookElsewhere(placesOf(deps, origin)) },
  };
  await writeJson(home.task(order.taskId).prepared, { ...prepared, preexisting: {} });
  await deps.registry.prepared(order, prepared);
  failpoint('worktree.prepared');
  return answerOf(deps, coder, prepared);
}

/** What others have done since the task's base, and is in the target by now, is no part of what is handed in. */
async function commonWith(
  { home }: Deps,
  { task, base, handedIn }: WorktreeInput,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ref = handedIn?.commit;
  if (!task.repo || !base || ref === undefined) return undefined;
  const opened = await openSource({ repo: task.repo, mirrorDir: home.mirror });
  return opened.ok ? commonBase({ source: opened.source, base, ref, into: task.into, signal }) : undefined;
}

const answerOf = ({ coders }: Deps, coder: string, { base, resumed, policy, task }: Prepared): Answer => ({
  ok: true,
  base,
  resumed: resumed?.runId ?? null,
  session: (resumed?.session ?? null) !== null,
  ...(policy.review?.gate ? { gate: true } : {}),
  doneBy: doneByOf(task, policy, { seen: coders.get(coder)?.coder.upstream !== undefined }),
});

async function layOut(
  deps: Deps,
  { taskId, runId, task }: WorktreeInput,
  { base, baseDir, coder, signal }: Pick<Prepared, 'base' | 'baseDir'> & { coder: string; signal: AbortSignal },
): Promise<({ ok: true; policy: Policy } & Pick<Prepared, 'submodules'>) | { ok: false; failure: Failure }> {
  // 2. What the repository asks for itself.
  const { home, config } = deps;
  const { limits: routed } = requireRun(deps, { taskId, runId });
  const read = await readRunPolicy(deps, { task, origin: { base, baseDir }, routed, agent: true, signal });
  if (!read.ok) return read;

  // 3. The agent's own repository, and its submodules' files. Where no agent will work in it, it needs none.
  const { tree } = home.run(taskId, runId);
  const { policy } = read;
  const open = submodulesFrom(deps, { task, policy, base, baseDir, signal });
  const opened = isOutside(coder) ? NO_SUBMODULES : await open({ gitDir: baseDir, commit: base });
  if (!opened.ok) return { ok: false, failure: { reason: 'repo-unavailable', message: opened.message } };
  const { submodules } = opened;
  deps.registry.borrow({ taskId, runId }, baseDir, ...submodules.map(({ gitDir }) => gitDir));
  // What a killed attempt's setup has had its hands on is written to by nobody of ours.
  if (submodules.length > 0) await removeTree(tree);
  await createPrivateRepo({ tree, baseDir, commit: base, branch: branchOf(taskId), identity: config.git });
  await laySubmodules(tree, submodules);
  return { ok: true, policy, submodules };
}

const NO_SUBMODULES = { ok: true as const, submodules: [] };

/** What setup and copies have made, also of the files of submodules. */
async function snapshot(of: Pick<Prepared, 'base' | 'baseDir' | 'submodules'> & { tree: string }) {
  const { tree, baseDir, base, submodules } = of;
  const made = await snapshotUntracked({ tree, baseDir, base, submodules: pathsOf(submodules) });
  const { entries } = await treeEntries(baseDir, base);
  const changed = await changedInSubmodules({ tree, submodules, links: entries });
  for (const [path, entry] of changed) if (entry) made[path] = entry;
  return made;
}

/** Notes of earlier runs, as regular files into the folder that the agent sees. */
async function bringNotes({ home }: Deps, ref: RunRef): Promise<void> {
  const { plan, knowledge } = home.task(ref.taskId);
  const { notes } = home.run(ref.taskId, ref.runId);
  for (const from of [plan, knowledge]) {
    const to = `${notes}/${basename(from)}`;
    if (!(await copyNote(dirname(from), to))) await writeFile(to, '');
  }
}

async function setUp(
  deps: Deps,
  ref: RunRef,
  order: Pick<Prepared, 'policy' | 'baseDir' | 'sealed'> & { n: number; repo: string | undefined; signal: AbortSignal },
): Promise<Failure | undefined> {
  const { policy, n } = order;
  const files = deps.home.run(ref.taskId, ref.runId);
  const logFile = deps.home.task(ref.taskId).runOf(n).setupLog;
  const deadline = performance.now() + policy.limits.totalMs;
  for (const command of policy.setup) {
    const timeoutMs = Math.max(1_000, deadline - performance.now());
    const options = (out: Out) => ({
      ...isolationPlan(deps, ref, order),
      ...out.plan,
      limits: policy.limits,
      secrets: deps.secrets.all,
      env: environment(deps.env, [], {
        ...out.env,
        HOME: files.agentHome,
        TMPDIR: files.tmp,
        PWD: files.tree,
        FLEET_RUN: ref.runId,
        CI: '1',
      }),
    });
    const { repo, signal } = order;
    const asked = { command, cwd: files.tree, timeoutMs, logFile, home: files.agentHome };
    const result = await runSetup(deps, { ...asked, policy, repo, runId: ref.runId, signal }, (asked) =>
      deps.programs.run('command', signal, (signal) =>
        withWay(deps, { use: 'setup', repo, narrowed: policy.network.setup }, (out) =>
          runContained(asked, { ...options(out), signal }),
        ),
      ),
    );
    if (result.exitCode === 0) continue;
    const how = result.timedOut ? 'ran out of time' : `ended with ${result.signal ?? result.exitCode}`;
    // A program that is not there is there at the next try neither.
    const reason = isUnstartable(result) ? 'check-cannot-start' : 'setup-failed';
    return { reason, message: `setup command \`${command}\` ${how}:\n${result.said.trim()}` };
  }
  return undefined;
}
