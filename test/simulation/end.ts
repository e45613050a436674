import type { WorkflowRecord } from './workflow-record.ts';
import type { World } from './world.ts';

/** With a ladder, a heartbeat and a workflow task; where workers are lost, also their timeouts. */
const CANCELLED_MS = { undisturbed: 30_000, disturbed: 200_000 };

/** What must be so when nothing is left to happen: all that was broken has healed, but for the machines that are gone. */
export function endsWell(world: World): void {
  const { server, checker, workers, alerts, branches, accepted } = world;
  for (const workflow of server.workflows.values()) {
    const { id, closed, view } = workflow;
    endsSoon(world, workflow);
    for (const { late } of view?.runs ?? []) if (late) world.count(`late ${late}`);
    if (closed) world.count(checker.states.get(id) ?? 'unknown');
    const state = checker.states.get(id);
    const delivered = checker.deliveries.get(id)?.at(-1);
    if (!closed && state !== 'parked')
      checker.violation(`${id} is lost: nothing will ever happen to it, and it is ${state}`);
    if (state === 'parked' && !alerts.some((alert) => alert.id === id && alert.reason === view?.reason))
      checker.violation(`${id} is parked (${view?.reason}) and nobody was told`);
    if (checker.agentsOf(id).length > 0) checker.violation(`an agent of ${id} still lives`);
    if (closed?.as !== 'completed') continue;
    if (!closed.view.verdict?.accepted && !accepted.has(id))
      checker.violation(`${id} is done without a verdict or a person's word`);
    if (closed.view.verdict?.doneBy.length === 0 && !accepted.has(id) && !closed.view.approvals?.some(isYes))
      checker.violation(`${id} is done, nothing shows it, and nobody said yes`);
    if (closed.view.branch && closed.view.commit !== branches.get(id))
      checker.violation(`${id} says that ${closed.view.commit} was delivered, and it was ${delivered?.commit}`);
    if (delivered && !closed.view.branch)
      checker.violation(`${id} does not say that ${delivered.commit} was delivered`);
  }
  for (const worker of workers) {
    if (worker.ills.gone) continue;
    for (const { runId, taskId } of worker.disk.values())
      checker.violation(`${worker.name} still holds ${runId} of ${taskId}`);
  }
}

const isYes = ({ stage, approved }: { stage: string; approved: boolean }): boolean =>
  stage === 'before-deliver' && approved;

/** A cancelled task ends within seconds, and nothing is delivered after that or without its knowing. */
function endsSoon({ checker, faults, flaky, people }: World, { id, closed, closedAt, waitedMs }: WorkflowRecord): void {
  const cancelledAt = people.cancelled.get(id);
  if (cancelledAt === undefined) return;
  const took = (closedAt ?? Infinity) - cancelledAt - waitedMs;
  const most = CANCELLED_MS[faults.struck ? 'disturbed' : 'undisturbed'];
  if (took > most) checker.violation(`${id} ended ${took / 1_000} s after it was cancelled`);
  if (closed?.as === 'cancelled' && checker.deliveries.has(id) && !faults.struck && flaky === 0)
    checker.violation(`${id} was cancelled and delivered`);
}
