import type { Client } from '@temporalio/client';
import { Holds } from '../../src/activities/worker/claim-holds.ts';
import { Ledger, type LedgerEntry } from '../../src/adapters/state/ledger.ts';
import { homeLayout } from '../../src/domain/names.ts';
import { RollbackWatch } from '../../src/workers/health/rollback.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const notFound = () => Object.assign(new Error('not found'), { code: 5 });

interface Data {
  /** Activities that were scheduled, by the workflow's run id. */
  histories: Record<string, { activityType: string; activityId: string; at: string }[]>;
  stands: Record<string, { memo: unknown; startTime: Date }>;
}

/** As much of a server as the watch asks: its data can be copied and put back, and it may be away. */
export class Server {
  data: Data = { histories: {}, stands: {} };
  away = false;
  /** Calls that time out before one is answered. */
  slow = 0;
  now = START;
  /** Resolves calls that were made before: as a server that answers late. */
  late: Promise<void> = Promise.resolve();

  copy = (): Data => structuredClone(this.data);

  get client(): Client {
    const asked = async <T>(answer: () => T): Promise<T> => {
      await this.late;
      // A worker's connection says so where its deadline is over.
      if (this.slow > 0 && this.slow--) throw Object.assign(new Error('Timeout expired'), { code: 1 });
      if (this.away) throw Object.assign(new Error('away'), { code: 14 });
      return answer();
    };
    const workflowService = {
      getWorkflowExecutionHistoryReverse: ({ execution }: { execution: { runId: string } }) =>
        asked(() => {
          const history = this.data.histories[execution.runId];
          if (!history) throw notFound();
          return { history: { events: history.map(scheduled) } };
        }),
      describeNamespace: () =>
        asked(() => ({ namespaceInfo: { id: 's' }, config: { workflowExecutionRetentionTtl: { seconds: 1e9 } } })),
    };
    const workflow = {
      getHandle: (id: string) => ({
        describe: () =>
          asked(() => {
            const found = this.data.stands[id];
            if (!found) throw notFound();
            return { status: { name: 'RUNNING' }, ...found };
          }),
        terminate: () => asked(() => void delete this.data.stands[id]),
      }),
      start: (_: string, { workflowId, memo }: { workflowId: string; memo: unknown }) =>
        asked(() => void (this.data.stands[workflowId] = { memo, startTime: new Date(this.now) })),
    };
    const withDeadline = (_: number, call: () => unknown) => call();
    const connection = { workflowService, withDeadline };
    return { workflow, workflowService, withDeadline, connection, options: { namespace: 'n' } } as unknown as Client;
  }
}

const scheduled = ({ at, ...attributes }: Data['histories'][string][number]) => ({
  eventType: 10,
  eventTime: { seconds: Math.floor(Date.parse(at) / 1_000), nanos: (Date.parse(at) % 1_000) * 1e6 },
  activityTaskScheduledEventAttributes: {
    activityId: attributes.activityId,
    activityType: { name: attributes.activityType },
  },
});

interface Site {
  server: Server;
  worker(name: string): Promise<Stand>;
}

export interface Stand {
  watch: RollbackWatch;
  holds: Holds;
  ledger: Ledger;
  /** The server schedules it, and this worker notes it. */
  work(taskId: string, activityType: 'createWorktree' | 'releaseRun'): void;
}

export function site(root: string): Site {
  const server = new Server();
  const worker = async (name: string): Promise<Stand> => {
    const ledger = await Ledger.open(homeLayout(`${root}/${name}`), 's');
    const holds = new Holds();
    const given = { client: server.client, holds, ledger, worker: { name, hostQueue: `host/${name}` }, log: () => {} };
    const watch = await RollbackWatch.start(given);
    await watch.stop();
    const work = (taskId: string, activityType: LedgerEntry['activityType']) => {
      server.now += 1_000;
      const history = (server.data.histories[`run-of-${taskId}`] ??= []);
      const activity = { activityType, activityId: String(history.length + 1), at: new Date(server.now).toISOString() };
      history.push(activity);
      ledger.note({ taskId, workflowRunId: `run-of-${taskId}`, n: 1, ...activity });
    };
    return { watch, holds, ledger, work };
  };
  return { server, worker };
}
