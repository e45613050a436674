import type { World } from './world.ts';

/** What must be so when nothing is left to happen: all that was broken has healed, but for the machines that are gone. */
export function endsWell({ server, checker, workers, alerts, branches, accepted }: World): void {
  for (const { id, closed, view } of server.workflows.values()) {
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
