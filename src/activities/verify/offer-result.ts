import { deliverBranch } from '../../adapters/git/deliver/deliver.ts';
import { treeOf } from '../../adapters/git/entries.ts';
import { dropRefs } from '../../adapters/git/rescue/hand-over.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import { readFile } from 'node:fs/promises';
import { readJson } from '../../adapters/disk/json-file.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import { rescueFolder, resultRef, RESULT_SUFFIX } from '../../domain/names.ts';
import type { ReplayInput } from '../../domain/worker/second-verdict.ts';
import type { RunRef, Verified } from '../../domain/view/task-view.ts';
import { decisionOf } from '../../receipts/replay.ts';
import { requirePrepared, type Deps } from '../worker/context.ts';
import { cancellable } from '../worker/heartbeat.ts';

export type Offered = { ok: true; order: ReplayInput } | { ok: false; failure: Failure };

/** Puts an accepted result where its repository comes from, for a second worker to fetch; harmless to repeat. */
export async function offerResult(deps: Deps, ref: RunRef): Promise<Offered> {
  const { prepared, n } = requirePrepared(deps, ref);
  const { task, base, policy } = prepared;
  const files = deps.home.run(ref.taskId, ref.runId);
  const verified = await readJson<Verified>(files.verified);
  if (!verified?.verdict.accepted) throw new Error(`run ${ref.runId} has no accepted result`);
  const commit = verified.commit ?? base;
  return cancellable(
    () => ({ runId: ref.runId, state: 'verifying' }),
    (signal) =>
      deps.registry.using(ref, async () => {
        signal.throwIfAborted();
        if (!deps.inContact()) throw new Error(`${deps.worker.name} has lost contact with the server`);
        const tree = await treeOf({ gitDir: files.result, commit });
        const order: ReplayInput = {
          ...{ ...ref, base, commit, task: { ...task, objective: '' } },
          tree,
          bundle: await readFile(deps.home.task(ref.taskId).runOf(n).receipts, 'utf8'),
          decision: decisionOf({ tree, policy }, verified.receipts),
          ref: verified.commit && task.repo ? resultRef(ref.taskId, ref.runId) : null,
        };
        if (!order.ref || !task.repo) return { ok: true, order };
        const opened = await openSource({ repo: task.repo, mirrorDir: deps.home.mirror });
        if (!opened.ok) return opened;
        const { source } = opened;
        const put = await deliverBranch({ source, gitDir: files.result, commit, base, ref: order.ref, signal });
        return put.ok ? { ok: true, order } : put;
      }),
  );
}

/** Removes what runs of a task had handed over, also those that were lost. What cannot be reached is no fault. */
export async function withdrawResults(
  deps: Deps,
  { taskId }: RunRef,
  { task, policy, baseDir }: Pick<Prepared, 'task' | 'policy' | 'baseDir'>,
): Promise<void> {
  if (policy.checks.where !== 'other' || !task.repo || !deps.inContact()) return;
  const opened = await openSource({ repo: task.repo, mirrorDir: deps.home.mirror });
  if (!opened.ok) return;
  const refs = { folder: rescueFolder(taskId), suffix: RESULT_SUFFIX };
  await dropRefs({ source: opened.source, ...refs, gitDir: baseDir });
}
