import type { TaskFigures } from '../../domain/list/stats.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { listRows } from './rows.ts';
import type { FleetConnection } from '../connection.ts';

/** Tasks that were closed, or parked, since then: from lists alone, a thousand a call; no history or result is fetched. */
export async function taskFigures(
  wire: FleetConnection,
  { since }: { since?: Date | undefined } = {},
): Promise<TaskFigures[]> {
  const closed = since ? `CloseTime >= '${since.toISOString()}'` : `ExecutionStatus != 'Running'`;
  const rows = await listRows(wire, `(${closed} OR ${ATTRIBUTES.state.name} = 'parked')`);
  return rows.flatMap(({ id, state, type, repo, coder, model, runs, ...row }) => {
    const endedAt = row.endedAt ?? runs.at(-1)?.endedAt ?? row.createdAt;
    if (since && Date.parse(endedAt) < since.getTime()) return [];
    return { id, state, type, repo, coder, model, createdAt: row.createdAt, endedAt, runs };
  });
}
