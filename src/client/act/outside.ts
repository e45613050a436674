import { ApplicationFailure } from '@temporalio/common';
import { toMs } from '../../domain/values/duration.ts';
import { wrongInput } from '../../domain/error.ts';
import { WORKFLOW_TYPE } from '../../domain/names.ts';
import { DEFAULT_LEASE, labelOf, STILL_HELD } from '../../domain/people/external-agent.ts';
import { readQuestion, type Question } from '../../domain/people/outbox.ts';
import type { TaskView } from '../../domain/view/task-view.ts';
import { name } from '../../domain/task/schema.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { askUpdate, completeUpdate, failUpdate, holdUpdate } from '../../workflows/messages.ts';

import { sayTo } from './decide.ts';
import { Attended, viewTask, type TaskReport } from '../read/view.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';

/** What agents outside the fleet do, each by the name that tasks are for. Nothing proves a name: see docs/outside-agents.md. */

const WIDTH = 12;

/** Open tasks that are for that name, the most urgent first. */
export async function listFor(wire: FleetConnection, as: string): Promise<TaskReport[]> {
  const attended = new Attended(wire);
  const ids: string[] = [];
  const label = labelOf(checked(as));
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ExecutionStatus = 'Running' AND ${ATTRIBUTES.labels.name} = '${label}'`;
  for await (const { workflowId } of wire.client.workflow.list({ query })) ids.push(workflowId);
  const reports = await mapBounded([...new Set(ids)], WIDTH, (id) => viewTask(wire, id, attended));
  const mine = reports.filter((report) => report.partial || report.for === as);
  return mine.sort((one, other) => one.priority - other.priority || one.createdAt.localeCompare(other.createdAt));
}

/**
 * Takes a task for `leaseMs` (default 30 minutes), or holds it for so long from now, where not more than half of that is left
 * anyway. Gives the task as it then is.
 */
export async function claimFor(
  wire: FleetConnection,
  id: string,
  { as, leaseMs = toMs(DEFAULT_LEASE) }: { as: string; leaseMs?: number },
): Promise<TaskView> {
  try {
    return await sayTo(wire, id, { update: holdUpdate, said: { as: checked(as), leaseMs } });
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof ApplicationFailure && cause.type === STILL_HELD) return viewTask(wire, id);
    throw error;
  }
}

/** Hands a result in. `commit`: a branch, tag or commit that the task's repository has; a worker verifies it. */
export const completeFor = (
  wire: FleetConnection,
  id: string,
  { as, result, commit }: { as: string; result: string; commit?: string },
): Promise<void> =>
  sayTo(wire, id, {
    update: completeUpdate,
    said: { as: checked(as), result, ...(commit === undefined ? {} : { commit }) },
    heard: ({ handedIn }) => handedIn?.result === result && handedIn.commit === commit,
  });

/** Says that it cannot be done: a person decides. */
export const failFor = (wire: FleetConnection, id: string, { as, why }: { as: string; why: string }): Promise<void> =>
  sayTo(wire, id, { update: failUpdate, said: { as: checked(as), why } });

/** What a name asks people on a task that it holds: the hold ends with it, and the answer is among the task's `answers`. */
export async function askFor(
  wire: FleetConnection,
  id: string,
  { as, ...asked }: { as: string } & Question,
): Promise<{ id: string; question: string }> {
  const read = readQuestion('question', JSON.stringify(asked));
  if (!read.ok) throw wrongInput(read.message.replace(/^question: /, ''));
  const said = await sayTo(wire, id, { update: askUpdate, said: { as: checked(as), ...read.value } });
  return { id, question: said.question };
}

function checked(as: string): string {
  if (name.safeParse(as).success) return as;
  throw wrongInput('a name must be letters, digits, ".", "_" or "-", 40 characters at most');
}
