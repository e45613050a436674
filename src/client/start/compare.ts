import { machineName } from '../../adapters/state/config-file.ts';
import { copyBranch, dropBranch } from '../../adapters/git/deliver/copy-branch.ts';
import { FleetError, wrongInput, alreadyExists, wrongState, hasCode } from '../../domain/error.ts';
import { candidateIds, candidateOf, compareLabel, countLines, type Candidate } from '../../domain/list/compare.ts';
import { branchRef, WORKFLOW_TYPE } from '../../domain/names.ts';
import { splitSpec } from '../../domain/routing/route.ts';
import type { Task } from '../../domain/task/schema.ts';
import { isUrl } from '../../domain/repository/repository-name.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { admitTasks } from './admit.ts';
import { readTaskFile } from '../read/read-log.ts';
import { readTaskInput } from '../read/task-input.ts';
import { startTask } from './start.ts';
import { describeTask, viewTask } from '../read/view.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';

/** What is compared: one task, on several coders. */
export interface Comparison {
  id: string;
  /** `coder` or `coder:model`. */
  specs: readonly string[];
  /** The task's fields, without coder, model and id. */
  input: Record<string, unknown>;
}

/**
 * Starts a task for each coder, all from the same base. Those that an earlier call with the same id has started are left
 * as they are, and the others get what these have. Gives the task ids by coder. @throws FleetError (2)
 */
export async function startComparison(
  wire: FleetConnection,
  { id, specs, input }: Comparison,
): Promise<Map<string, string>> {
  const ids = candidateIds(id, specs);
  const there = await mapBounded([...ids.values()], 4, (task) => inputOf(wire, task));
  const [known] = there.filter((task) => task !== undefined);
  if (known) checkSame(id, known, input);
  const label = compareLabel(id);
  const labels = [...((input['labels'] as string[] | undefined) ?? []), label];
  const { coder: _coder, model: _model, ...same }: Record<string, unknown> = known ?? input;
  const missing = [...ids].filter((_, index) => !there[index]);
  const orders = missing.map(([spec, task]) => ({ id: task, input: { ...same, labels, ...splitSpec(spec) } }));
  const admitted = await admitTasks(wire, orders).catch(async (error: unknown) => {
    const now = await mapBounded(missing, 4, ([, task]) => inputOf(wire, task));
    if (now.every((task) => task === undefined)) throw error;
    return undefined;
  });
  // Another call with the same id is under way: what it has started is there now.
  if (!admitted) return startComparison(wire, { id, specs, input });
  for (const { id: task, task: fields } of admitted) {
    // HEAD may have moved between two of them.
    const { base } = admitted[0]!.task;
    await startTask(wire, { id: task, task: base ? { ...fields, base } : fields }).catch(async (error: unknown) => {
      // Another call with the same id was faster.
      if (!(await inputOf(wire, task))) throw error;
    });
  }
  return ids;
}

/** The coders of a comparison that was started before, with their task ids, in the order of their start. */
export async function findComparison(wire: FleetConnection, id: string): Promise<Map<string, string>> {
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ${ATTRIBUTES.labels.name} = '${compareLabel(id)}'`;
  const found: { task: string; startedAt: number }[] = [];
  for await (const { workflowId: task, startTime } of wire.client.workflow.list({ query }))
    found.push({ task, startedAt: startTime.getTime() });
  const specs = await mapBounded(
    found.sort((one, other) => one.startedAt - other.startedAt),
    4,
    async ({ task }) => {
      const { coder = '', model } = (await inputOf(wire, task)) ?? {};
      return [model ? `${coder}:${model}` : coder, task] as const;
    },
  );
  return new Map(specs);
}

function checkSame(id: string, known: Task, input: Record<string, unknown>): void {
  const { objective } = input;
  if (typeof objective !== 'string' || known.objective === objective.trim()) return;
  throw alreadyExists(`comparison ${id} is there already, with another objective: give another --id`);
}

/** What a task was started with; undefined where there is none. */
async function inputOf(wire: FleetConnection, id: string): Promise<Task | undefined> {
  const described = await describeTask(wire, id).catch((error: unknown) => {
    if (hasCode(error, 'not-found')) return undefined;
    throw error;
  });
  if (!described) return undefined;
  const parsed = await readTaskInput(wire, { id, runId: described.runId });
  if (!parsed.ok) throw new FleetError('failed', `task ${id} is not valid: ${parsed.message}`);
  return parsed.task;
}

/** How one of them stands. */
export async function readCandidate(wire: FleetConnection, spec: string, id: string): Promise<Candidate> {
  const view = await viewTask(wire, id);
  const lines = view.commit || view.runs.at(-1)?.commit ? await linesOf(wire, id).catch(() => null) : null;
  return candidateOf(spec, view, lines);
}

async function linesOf(wire: FleetConnection, id: string): Promise<Candidate['lines']> {
  let [text, offset] = ['', 0];
  for (;;) {
    const piece = await readTaskFile(wire, id, { file: 'diff', offset });
    text += piece.text;
    if (piece.end || piece.next === offset) return countLines(text);
    offset = piece.next;
  }
}

/** Puts the winner's result on `fleet/<id>` of the repository; a second time it is there already. Gives the branch. */
export async function deliverWinner(wire: FleetConnection, id: string, winner: Candidate): Promise<string> {
  const { task, commit } = await deliveredBy(wire, winner);
  const copied = await copyBranch({ repo: task.repo!, commit, from: branchRef(winner.id), to: branchRef(id) });
  if (!copied.ok)
    throw new FleetError('failed', `the winner ${winner.id} cannot be delivered: ${copied.failure.message}`);
  return `fleet/${id}`;
}

/** Removes the branches of those that did not win, where they are as they were delivered. Gives their names. */
export async function dropLosers(wire: FleetConnection, losers: readonly Candidate[]): Promise<string[]> {
  const dropped = await mapBounded(
    losers.filter(({ branch, commit }) => branch !== null && commit !== null),
    1,
    async (loser) => {
      const { task, commit } = await deliveredBy(wire, loser);
      return (await dropBranch({ repo: task.repo!, ref: branchRef(loser.id), commit })) ? [`fleet/${loser.id}`] : [];
    },
  );
  return dropped.flat();
}

async function deliveredBy(wire: FleetConnection, one: Candidate): Promise<{ task: Task; commit: string }> {
  const task = await inputOf(wire, one.id);
  if (!task?.repo || !one.branch || !one.commit)
    throw wrongState(`task ${one.id} has delivered no branch: --best needs a repository and --deliver branch`);
  if (!isUrl(task.repo) && task.machine !== machineName(wire.config))
    throw wrongInput(`${task.repo} is on machine ${task.machine}: run this there`);
  return { task, commit: one.commit };
}
