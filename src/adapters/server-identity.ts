import type { AnyConnection } from './connection.ts';

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
