import { Context } from '@temporalio/activity';
import { failpoint } from '../../adapters/failpoint.ts';
import { deliverBranch, type DeliverBranch } from '../../adapters/git/deliver/deliver.ts';
import { dropWip } from '../../adapters/git/rescue/wip.ts';
import { openRescue } from '../../adapters/git/rescue/rescue.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import { readJson } from '../../adapters/disk/json-file.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import { branchOf, branchRef, rescueRef } from '../../domain/names.ts';
import type { Delivered, RunRef, Verified } from '../../domain/view/task-view.ts';
import { cleanedSentence } from '../worker/cleaned.ts';
import { requirePrepared, type Deps } from '../worker/context.ts';
import { heartbeating } from '../worker/heartbeat.ts';
import { wipOf } from '../save/push-wip.ts';
import type { ApprovalSaid } from '../../domain/people/waiting.ts';
import { keepResult } from '../save/keep-result.ts';
import { signApproval } from '../verify/sign-receipts.ts';

/**
 * `earlier`: accepted results of runs whose workers were lost before they could say that they had delivered them.
 * `replaces`: what the task has delivered before, and mends now.
 */
export type DeliverInput = RunRef & { earlier?: string[]; replaces?: string };

/** Brings the accepted result as a branch to where the repository came from; happens once, however often it is called. */
export async function deliver(deps: Deps, order: DeliverInput): Promise<Delivered> {
  const { earlier = [], replaces, ...ref } = order;
  const { prepared } = requirePrepared(deps, ref);
  const files = deps.home.run(ref.taskId, ref.runId);
  const verified = await readJson<Verified>(files.verified);
  if (!verified?.verdict.accepted || verified.elsewhere || !verified.commit)
    throw new Error(`run ${ref.runId} has no accepted result`);
  const { commit } = verified;
  const { cancellationSignal } = Context.current();
  return heartbeating(
    () => ({ runId: ref.runId, state: 'delivering' }),
    () =>
      deps.registry.using(ref, async () => {
        await deps.programs.resumed(cancellationSignal);
        // From here on it runs to its end, whoever cancels, unless the remote hangs: what was delivered must be known.
        if (!deps.inContact()) throw new Error(`${deps.worker.name} has lost contact with the server`);
        failpoint('deliver.begun');
        const { result: gitDir } = files;
        const before = { earlier, ...(replaces ? { replaces } : {}) };
        const result = { taskId: ref.taskId, gitDir, commit, ...before, signal: cancellationSignal };
        const delivered = await bring(deps, prepared, result);
        if (!delivered.ok) await keepResult(deps, ref, { prepared, commit });
        return delivered;
      }),
  );
}

/** Keeps an accepted result for as long as a person's yes takes: without its run, and across this worker's restarts. */
export async function keepAccepted(deps: Deps, ref: RunRef): Promise<void> {
  const { prepared } = requirePrepared(deps, ref);
  const verified = await readJson<Verified>(deps.home.run(ref.taskId, ref.runId).verified);
  if (!verified?.verdict.accepted || !verified.commit) throw new Error(`run ${ref.runId} has no accepted result`);
  await deps.registry.using(ref, () => keepResult(deps, ref, { prepared, commit: verified.commit! }));
  failpoint('kept.stored');
  await deps.tally.ended(ref, 'kept');
}

/** The same for a rejected result that a person accepted, from the vault. */
export async function deliverRescued(
  deps: Deps,
  order: RunRef & { replaces?: string; approval?: ApprovalSaid },
): Promise<Delivered> {
  const prepared = await readJson<Prepared>(deps.home.task(order.taskId).prepared);
  if (!prepared) {
    const why = (await cleanedSentence(deps, order.taskId)) ?? `it has no record of ${order.taskId}`;
    return { ok: false, failure: { reason: 'repo-unavailable', message: `worker ${deps.worker.name}: ${why}` } };
  }
  const kept = await openRescue({
    vaultDir: deps.home.vaultOf(prepared.repoKey),
    ref: rescueRef(order.taskId, order.runId),
  });
  if (!kept.ok) return kept;
  const { cancellationSignal: signal } = Context.current();
  return heartbeating(
    () => ({ runId: order.runId, state: 'delivering' }),
    async () => {
      await deps.programs.resumed(signal);
      if (order.approval) await signApproval(deps, order, order.approval);
      const { gitDir, commit } = kept;
      const { taskId, replaces } = order;
      const result = { taskId, gitDir, commit, signal, ...(replaces ? { replaces } : {}) };
      const delivered = await bring(deps, prepared, result);
      failpoint('kept.delivered');
      const wip = wipOf(order.taskId, prepared.task);
      if (delivered.ok && wip) await dropWip({ ...wip, gitDir });
      return delivered;
    },
  );
}

async function bring(
  { home }: Deps,
  { task, base }: Prepared,
  result: Pick<DeliverBranch, 'gitDir' | 'commit' | 'earlier' | 'replaces' | 'signal'> & { taskId: string },
): Promise<Delivered> {
  if (!task.repo) return { ok: true, branch: null, commit: result.commit };
  const opened = await openSource({ repo: task.repo, mirrorDir: home.mirror });
  if (!opened.ok) return opened;
  const delivered = await deliverBranch({ source: opened.source, ...result, base, ref: branchRef(result.taskId) });
  return delivered.ok ? { ok: true, branch: branchOf(result.taskId), commit: delivered.commit } : delivered;
}
