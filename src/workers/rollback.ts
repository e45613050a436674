import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Holds } from '../activities/holds.ts';
import type { Ledger, LedgerEntry } from '../adapters/ledger.ts';
import { identifyServer } from '../adapters/server-identity.ts';

const EVERY_MS = 3_000;
const DEADLINE_MS = 3_000;
const PAGE = 200;
const NOT_FOUND = 'WorkflowNotFoundError';
const SCHEDULED = proto.temporal.api.enums.v1.EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED;

interface Watched {
  client: Client;
  holds: Holds;
  ledger: Ledger;
  log(line: string): void;
}

/**
 * Compares the newest thing that this worker did with the server's history of it, now and every three seconds. A server
 * that knows less has lost what came after a copy of its data was made: the worker then takes no new work, until the
 * newer data is back, or a person has removed the ledger. What cannot be asked now changes nothing.
 */
export async function startRollbackWatch(watched: Watched): Promise<{ stop(): Promise<void> }> {
  let looking: Promise<void> | undefined;
  const look = () =>
    (looking ??= compare(watched)
      .catch(() => undefined)
      .finally(() => (looking = undefined)));
  await look();
  const timer = setInterval(() => void look(), EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}

async function compare({ client, holds, ledger, log }: Watched): Promise<void> {
  const { newest } = ledger;
  const lost = newest && !(await knows(client, newest)) && (await shouldKnow(client, newest));
  if (lost && !holds.has(ROLLED_BACK)) log(sentence(newest, ledger));
  if (!lost && holds.has(ROLLED_BACK))
    log('taking new work again: the server knows what was done here, or the ledger is gone');
  holds.set(ROLLED_BACK, lost ? sentence(newest, ledger) : null);
}

/** Closed tasks are forgotten after the server's retention. */
async function shouldKnow({ connection, options }: Client, { at }: LedgerEntry): Promise<boolean> {
  const { retentionMs } = await identifyServer(connection, options.namespace);
  return !retentionMs || Date.now() - Date.parse(at) < retentionMs;
}

/** The cause of the hold. While it lasts, what the server says of a run is no reason to end it. */
export const ROLLED_BACK = 'ledger';

const sentence = ({ taskId, n, at }: LedgerEntry, { file }: Ledger): string =>
  `the Temporal server does not know of run ${n} of ${taskId}, which was here at ${at}: its database was rolled back ` +
  `or that task deleted; bring the newer database back, or remove ${file} to go on, which may repeat work`;

/** Whether the workflow's history has come as far as the entry. */
async function knows(client: Client, entry: LedgerEntry): Promise<boolean> {
  const { namespace } = client.options;
  const execution = { workflowId: entry.taskId, runId: entry.workflowRunId };
  let nextPageToken: Uint8Array | undefined;
  do {
    try {
      const page = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
        client.workflowService.getWorkflowExecutionHistoryReverse({
          ...{ namespace, execution, maximumPageSize: PAGE },
          ...(nextPageToken ? { nextPageToken } : {}),
        }),
      );
      const found = (page.history?.events ?? []).some(({ eventType, activityTaskScheduledEventAttributes: of }) => {
        const same = of?.activityId === entry.activityId && of.activityType?.name === entry.activityType;
        return eventType === SCHEDULED && same;
      });
      if (found) return true;
      nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  } while (nextPageToken);
  return false;
}

const isNotFound = (error: unknown): boolean =>
  error instanceof Error && (error.name === NOT_FOUND || (error as { code?: unknown }).code === 5);
