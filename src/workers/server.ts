import type { AnyConnection } from '../adapters/connection.ts';

type Asked = Pick<AnyConnection, 'workflowService' | 'withDeadline'>;

/** The data behind an address: one namespace of one database. */
export interface ServerIdentity {
  /** Made with the namespace: a new database has another one, a restored copy the same. */
  id: string;
  /** How long it remembers closed tasks, in milliseconds. */
  retentionMs: number;
}

const DEADLINE_MS = 3_000;

/** @throws where the server does not answer within three seconds */
export async function identifyServer(connection: Asked, namespace: string): Promise<ServerIdentity> {
  const { namespaceInfo, config } = await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    connection.workflowService.describeNamespace({ namespace }),
  );
  if (!namespaceInfo?.id) throw new Error(`the server does not say which namespace ${namespace} is`);
  const seconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  return { id: namespaceInfo.id, retentionMs: seconds * 1_000 };
}

/**
 * `ping` proves contact with the very server that was attached to; `moved` rejects once another one answers in its place,
 * whose tasks are none of those that are worked on here.
 */
export function watchServer(attached: { connection: AnyConnection; namespace: string; id: string }): {
  ping(): Promise<void>;
  moved: Promise<never>;
} {
  const { connection, namespace, id } = attached;
  let reject: (error: Error) => void;
  const moved = new Promise<never>((_, no) => (reject = no));
  // Awaited where the pollers run; before that it is no unhandled one.
  moved.catch(() => undefined);
  const ping = async (): Promise<void> => {
    if ((await identifyServer(connection, namespace)).id === id) return;
    const error = new Error('another Temporal server, or one with a new database, answers in place of the one before');
    reject(error);
    throw error;
  };
  return { ping, moved };
}
