import { WORKFLOW_TYPE } from '../domain/names.ts';
import { readRunLine } from '../domain/run-line.ts';
import type { TaskFigures } from '../domain/stats.ts';
import { ATTRIBUTES } from '../workflows/attributes.ts';
import { stateOf } from './view.ts';
import type { Wire } from './wire.ts';

const PAGE = 1_000;

/** Tasks that were closed, or parked, since then: from lists alone, a thousand a call; no history or result is fetched. */
export async function taskFigures(
  { client }: Wire,
  { since }: { since?: Date | undefined } = {},
): Promise<TaskFigures[]> {
  const closed = since ? `CloseTime >= '${since.toISOString()}'` : `ExecutionStatus != 'Running'`;
  const ended = `(${closed} OR ${ATTRIBUTES.state.name} = 'parked')`;
  const figures: TaskFigures[] = [];
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ${ended}`;
  for await (const one of client.workflow.list({ query, pageSize: PAGE })) {
    const { typedSearchAttributes: told, workflowId: id, startTime, closeTime } = one;
    const runs = (told.get(ATTRIBUTES.runs) ?? []).flatMap((line) => readRunLine(line) ?? []);
    const endedAt = closeTime?.toISOString() ?? runs.at(-1)?.endedAt ?? startTime.toISOString();
    if (since && Date.parse(endedAt) < since.getTime()) continue;
    figures.push({
      ...{ id, state: stateOf(one), type: told.get(ATTRIBUTES.type) ?? null, repo: told.get(ATTRIBUTES.repo) ?? null },
      ...{ coder: told.get(ATTRIBUTES.coder) ?? null, model: told.get(ATTRIBUTES.model) ?? null },
      ...{ createdAt: startTime.toISOString(), endedAt, runs: runs.toSorted((one_, other) => one_.n - other.n) },
    });
  }
  return figures;
}
