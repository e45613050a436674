import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { ORDER_QUEUE, ROLLBACK_TYPE, rollbackId } from '../../domain/names.ts';
import {
  forgottenRuns,
  openNotices,
  rollbackSentence,
  type AcceptedRollback,
  type ForgottenBy,
  type RollbackNotice,
} from '../../domain/worker/rollback.ts';
import { isNotFound, type FleetConnection } from '../connection.ts';

const DEADLINE_MS = 3_000;
const SUMMARY = 200;

/** What the server has on its own rollback, in whichever copy of its database it works with now. */
export interface RollbackRecord {
  /** As the workers wrote it, also what was accepted since. */
  noticed: RollbackNotice[];
  accepted: AcceptedRollback | null;
}

export async function readRollback(client: Client): Promise<RollbackRecord> {
  const noticed = await standing(client, 'noticed');
  const { notices = [] } = (noticed?.memo ?? {}) as { notices?: RollbackNotice[] };
  return { noticed: notices, accepted: notices.length > 0 ? await readAccepted(client) : null };
}

/** Workers hold for these. */
export async function readNotices(client: Client): Promise<RollbackNotice[]> {
  const { noticed, accepted } = await readRollback(client);
  return openNotices(noticed, accepted);
}

/** What the server's own clock says of the acceptance counts, where it is later than what was accepted. */
export async function readAccepted(client: Client): Promise<AcceptedRollback | null> {
  const found = await standing(client, 'accepted');
  if (!found?.memo) return null;
  const accepted = found.memo as unknown as AcceptedRollback;
  const startedAt = found.startTime.toISOString();
  return { ...accepted, at: startedAt > accepted.at ? startedAt : accepted.at };
}

/** In place of all that was noticed; none withdraws it. */
export async function writeNotices(client: Client, notices: readonly RollbackNotice[]): Promise<void> {
  if (notices.length > 0) return stand(client, 'noticed', { memo: { notices }, summary: rollbackSentence(notices) });
  try {
    await client.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflow.getHandle(rollbackId('noticed')).terminate('the server knows it again'),
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The runs that nobody waits for any more; none where no worker has noticed anything, and nothing is changed. */
export async function acceptRollback(
  { client }: FleetConnection,
  said: { by: string; why: string },
): Promise<ForgottenBy[]> {
  const runs = forgottenRuns(await readNotices(client));
  const [newest] = runs;
  if (newest) {
    const summary = `an older copy of the database was accepted by ${said.by}${said.why ? `: ${said.why}` : ''}`;
    await stand(client, 'accepted', { memo: { ...said, at: newest.at }, summary });
  }
  return runs;
}

type Part = Parameters<typeof rollbackId>[0];

/** In place of what stood there. */
async function stand(
  client: Client,
  part: Part,
  { memo, summary }: { memo: Record<string, unknown>; summary: string },
): Promise<void> {
  const workflowId = rollbackId(part);
  await client.withDeadline(Date.now() + DEADLINE_MS, () =>
    client.workflow.start(ROLLBACK_TYPE, {
      ...{ workflowId, memo, taskQueue: ORDER_QUEUE, staticSummary: summary.slice(0, SUMMARY) },
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    }),
  );
}

async function standing(client: Client, part: Part): Promise<WorkflowExecutionDescription | undefined> {
  try {
    const described = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflow.getHandle(rollbackId(part)).describe(),
    );
    return described.status.name === 'RUNNING' ? described : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
