import { ApplicationFailure, Context } from '@temporalio/activity';
import { randomBytes } from 'node:crypto';
import { leaseOf } from '../../config.ts';
import { heldFor, type Spent } from '../../domain/scheduling/budget.ts';
import type { ClaimAnswer, ClaimInput, Wanting } from '../../domain/run/claim.ts';
import { runIdOf } from '../../domain/names.ts';
import { isOutside } from '../../domain/people/external-agent.ts';
import { failpoint } from '../../adapters/failpoint.ts';
import type { Choice } from '../../domain/routing/route.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import { choose } from './choose-coder.ts';
import type { Deps } from '../worker/context.ts';
import { isGivenElsewhere, refusedVariable } from '../prepare/variables.ts';
import { takeSeat } from '../credentials/seat.ts';
import { isForOthers } from '../worker/others.ts';

const OVER_MS = 5 * 60_000;

/**
 * Claims a slot of this worker. Each activity attempt mints its own run id: only the one that the workflow received
 * is valid, and the reaper frees the others. A worker that is full hands the task back at once (retryable failure).
 */
export async function registerRun(deps: Deps, order: ClaimInput): Promise<ClaimAnswer> {
  const { config, worker, registry } = deps;
  const over = order.facts && heldFor(deps.budgets.spent(), order.facts);
  if (over) throw handBack(`${worker.name} takes no run of it: ${over.said}`, untilOpen(over));
  const answer = await choose(deps, ofCredential(deps, order));
  if ('none' in answer) throw handBack(answer.none, '10s');
  const { choice, triaged } = 'choice' in answer ? answer : {};
  if (!choice) {
    if (!deps.holds.open) throw heldUp(deps);
    return answer as Exclude<typeof answer, { choice: Choice }>;
  }
  const found = deps.coders.get(choice.coder);
  if (!found && !isOutside(choice.coder)) throw handBack(`${worker.name} has no coder ${choice.coder}`, '10s');
  const refused = order.facts?.env && !isOutside(choice.coder) && refusedVariable(deps, order.facts.env);
  if (refused && (await isGivenElsewhere(deps, order.facts!))) throw handBack(refused.message, '5s');
  const { coder, credential: ofRule, ...chosen } = choice;
  const pinned = order.credential ?? ofRule;
  const wanting = wantingOf(order, choice);
  if (wanting && (await isForOthers(deps, wanting)))
    throw handBack(`${worker.name} leaves it to workers that have not failed at it`, '5s');
  const runId = runIdOf(order.n, randomBytes(4).toString('hex'));
  const record = {
    taskId: order.taskId,
    runId,
    n: order.n,
    coder,
    credential: null,
    ...chosen,
    structured: found?.coder.structured ?? false,
    ...(wanting ? { wanting } : {}),
    server: deps.serverId,
    workflowRunId: Context.current().info.workflowExecution?.runId ?? '',
    claimedAt: new Date().toISOString(),
    prepared: null,
  };
  await deps.rollback.lookBeforeClaim(record).catch((error: unknown) => {
    throw handBack(
      `${worker.name} could not compare the server's data with what was done here: ${String(error)}`,
      '1s',
    );
  });
  if (!deps.holds.open) throw heldUp(deps);
  if (registry.size >= config.worker.slots) throw handBack(`${worker.name} is full`, '200ms');
  const seat = await takeSeat(deps, record, { coder, ...(pinned === undefined ? {} : { credential: pinned }) });
  if (!seat.ok) throw handBack(seat.why, seat.until ? waitUntil(seat.until) : '2s');
  const { credential } = seat;
  // A seat of a run that is not claimed after all is given back by the next look at what this worker holds.
  if (!(await registry.claim({ ...record, credential }, config.worker.slots)))
    throw handBack(`${worker.name} is full`, '200ms');
  failpoint('claim.recorded');
  const lease = leaseOf(config);
  return {
    runId,
    n: order.n,
    worker: worker.name,
    machine: worker.machine,
    hostQueue: worker.hostQueue,
    coder,
    ...(choice.model ? { model: choice.model } : {}),
    ...(credential === null ? {} : { credential }),
    ...(choice.rule ? { rule: choice.rule } : {}),
    ...(triaged ? { triaged } : {}),
    lease: { heartbeatMs: lease.heartbeatMs, graceMs: lease.graceMs },
  };
}

/** Whether this worker holds the run: the probe after an activity of it was lost. */
export async function findRun(deps: Deps, ref: RunRef): Promise<boolean> {
  if (deps.registry.find(ref)) return true;
  // It may have ended here, and the server have forgotten that: others have to know before they claim it.
  await deps.rollback.look().catch(() => undefined);
  return false;
}

/** Each worker has a default of its own, and its own names of credentials: only the task and a rule bind the others. */
function wantingOf({ facts, met, ...pinned }: ClaimInput, { coder, rule }: Choice): Wanting | undefined {
  if (!facts) return undefined;
  const bound = pinned.coder !== undefined || rule !== undefined;
  return {
    ...{ queue: facts.queue, repo: facts.repo },
    ...(bound ? { coder } : {}),
    ...(pinned.credential === undefined ? {} : { credential: pinned.credential }),
    ...(met ? { met } : {}),
  };
}

/** A credential is of one coder. */
function ofCredential({ config }: Deps, order: ClaimInput): ClaimInput {
  const coder = order.coder ?? config.credentials[order.credential ?? '']?.coder;
  return coder ? { ...order, coder } : order;
}
/** A queue that is over its budget is not polled. Of a repository's tasks each comes by, and is not to come every second. */
const untilOpen = ({ repo, until }: Spent): number => (repo === undefined ? 1_000 : waitUntil(until));

/** Milliseconds to an ISO time, as far as that is near. */
const waitUntil = (until: string): number => Math.min(OVER_MS, Math.max(1_000, Date.parse(until) - Date.now() + 1_000));

const heldUp = ({ worker, holds }: Deps): ApplicationFailure =>
  handBack(`${worker.name} takes no new work: ${holds.reasons.join('; ')}`, '1s');

const handBack = (message: string, nextRetryDelay: '200ms' | '1s' | '2s' | '5s' | '10s' | number): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'HandBack', nextRetryDelay });
