import { cycleIn } from '../../domain/scheduling/dependencies.ts';
import { wrongInput } from '../../domain/error.ts';
import { needsUpdate, priorityUpdate } from '../../workflows/messages.ts';
import { sayTo } from './decide.ts';
import { viewTask } from '../read/view.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';

const WIDTH = 8;

/** 0 (critical) to 100. A waiting task is moved at once; otherwise it counts for the next run. */
export const setPriority = (wire: FleetConnection, id: string, priority: number): Promise<void> =>
  sayTo(wire, id, { update: priorityUpdate, said: { priority } });

/** @throws FleetError (2) for an unknown id, a cycle, or a task that an agent works on */
export async function changeNeeds(
  wire: FleetConnection,
  id: string,
  { add = [], drop = [] }: { add?: readonly string[]; drop?: readonly string[] },
): Promise<void> {
  await refuseCycle(wire, id, add);
  const before = ((await viewTask(wire, id)).dependsOn ?? []).map((one) => one.id);
  const fresh = add.filter((one) => !before.includes(one));
  await sayTo(wire, id, { update: needsUpdate, said: { add: fresh, drop: [...drop] } });
  // Somebody may have said the other half meanwhile: then both take it back, and nothing else.
  await refuseCycle(wire, id, fresh).catch(async (error: unknown) => {
    const again = drop.filter((one) => before.includes(one));
    await sayTo(wire, id, { update: needsUpdate, said: { add: again, drop: fresh } });
    throw error;
  });
}

/** Through all that the added ones wait for. */
async function refuseCycle(wire: FleetConnection, id: string, add: readonly string[]): Promise<void> {
  const edges = new Map<string, string[]>([[id, [...add]]]);
  for (let front = [...new Set(add)]; front.length > 0;) {
    const views = await mapBounded(front, WIDTH, (one) => viewTask(wire, one));
    for (const view of views)
      if (view.id !== id)
        edges.set(
          view.id,
          (view.dependsOn ?? []).map((one) => one.id),
        );
    front = [...new Set(views.flatMap((view) => edges.get(view.id) ?? []))].filter((one) => !edges.has(one));
  }
  const cycle = cycleIn(edges);
  if (cycle) throw wrongInput(`dependsOn would lead in a circle: ${cycle.join(' → ')}`);
}
