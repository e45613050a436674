import { BUILTIN_CODERS } from '../../config.ts';
import { FleetError, wrongInput, isBadUse } from '../../domain/error.ts';
import { followUpId } from '../../domain/people/follow-up-id.ts';
import { narrowed, type By, type Proposals } from '../../domain/people/follow-up-limits.ts';
import { followUpLabel, WORKFLOW_TYPE } from '../../domain/names.ts';
import { checkFollowUp, type FollowUp } from '../../domain/people/outbox.ts';
import type { Task } from '../../domain/task/schema.ts';
import { titleOf } from '../../domain/task/title.ts';
import type { HandedOff } from '../../domain/people/waiting.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { admitTasks } from './admit.ts';
import { readTaskInput } from '../read/task-input.ts';
import { startTask } from './start.ts';
import { describeTask } from '../read/view.ts';
import { unknownTask, type FleetConnection } from '../connection.ts';
import { codersOf } from '../fleet/workers.ts';

/**
 * Creates them; the same proposals again give the same tasks. What is refused is said, and hinders nothing else.
 * @throws what may go well in a while: to be called again
 */
export async function createProposed(wire: FleetConnection, { followUps, ...of }: Proposals): Promise<HandedOff[]> {
  const depth = await depthOf(wire, of.task.parent, wire.config.handOff.depth);
  const isCoder = await coders(wire);
  const made: HandedOff[] = [];
  for (const [index, followUp] of followUps.entries()) {
    const id = followUpId(of.id, of.n, index + 1);
    const title = titleOf({ objective: String(followUp.task['objective']) });
    if (await exists(wire, id)) {
      made.push({ id, title });
      continue;
    }
    const children = of.children + made.filter(({ refused }) => refused === undefined).length;
    try {
      await create(wire, { id, followUp, by: 'agent', parent: { ...of, depth, children }, isCoder });
      made.push({ id, title });
    } catch (error) {
      if (!isBadUse(error)) throw error;
      made.push({ id, title, refused: error.message });
    }
  }
  return made;
}

/** A person's, or that of an agent outside: of any task that the server remembers. @throws FleetError (2) where it is wider than that one */
export async function handOffTask(
  wire: FleetConnection,
  parentId: string,
  { from, id, ...given }: { from: string; id?: string | undefined; by: By } & Record<'followUp', unknown>,
): Promise<string> {
  const checked = checkFollowUp(given.followUp);
  if (!checked.ok) throw wrongInput(checked.message);
  const task = await taskOf(wire, parentId);
  const depth = await depthOf(wire, task.parent, wire.config.handOff.depth);
  // What people hand off is theirs to count.
  const children = given.by === 'agent' ? await followUpsOf(wire, parentId) : 0;
  const parent = { id: parentId, task, from, depth, children };
  return create(wire, { id, followUp: checked.value, by: given.by, parent, isCoder: await coders(wire) });
}

async function create(
  wire: FleetConnection,
  {
    id,
    followUp,
    ...told
  }: { id: string | undefined; followUp: FollowUp } & Omit<Parameters<typeof narrowed>[1], 'rules'>,
): Promise<string> {
  const child = narrowed(followUp, { ...told, rules: wire.config.handOff });
  if (!child.ok) throw wrongInput(child.message);
  const { input, ...handedOff } = child.value;
  const [admitted] = await admitTasks(wire, [{ input, id, handedOff }]);
  await startTask(wire, admitted!);
  return admitted!.id;
}

/** Whether a name is a coder's; else it is that of an agent outside the fleet. */
export async function coders(wire: FleetConnection): Promise<(name: string) => boolean> {
  const known = new Set<string>([...BUILTIN_CODERS, ...Object.keys(wire.config.coders), ...(await codersOf(wire))]);
  return (name) => known.has(name);
}

/** How many it has, whoever made them. The server's index lags behind by what it takes to write it. */
async function followUpsOf({ client }: FleetConnection, id: string): Promise<number> {
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ${ATTRIBUTES.labels.name} = '${followUpLabel(id)}'`;
  return (await client.workflow.count(query)).count;
}

/** How many hand-offs led to a task of this parent: `most` at most, so long a chain is looked at. */
async function depthOf(wire: FleetConnection, parent: string | undefined, most: number): Promise<number> {
  let depth = 0;
  for (let at = parent; at !== undefined && depth < most; depth += 1) {
    at = (await taskOf(wire, at).catch(gone))?.parent;
  }
  return depth;
}

/** A task that the server has forgotten ends the chain. */
function gone(error: unknown): undefined {
  if (error instanceof FleetError) return undefined;
  throw error;
}

/** A task as it was enqueued. @throws FleetError (2) where there is none, or it was not one */
export async function taskOf(wire: FleetConnection, id: string): Promise<Task> {
  const { runId } = await describeTask(wire, id);
  const parsed = await readTaskInput(wire, { id, runId });
  if (!parsed.ok) throw unknownTask(id);
  return parsed.task;
}

async function exists(wire: FleetConnection, id: string): Promise<boolean> {
  try {
    await describeTask(wire, id);
    return true;
  } catch (error) {
    if (error instanceof FleetError) return false;
    throw error;
  }
}
