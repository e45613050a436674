import { setTimeout as pause } from 'node:timers/promises';
import type { AnyConnection } from './connection.ts';

type Asked = Pick<AnyConnection, 'workflowService' | 'withDeadline'>;

/** The data behind an address: one namespace of one database. */
export interface ServerIdentity {
  /** Made with the namespace: a new database has another one, a restored copy the same. */
  id: string;
  /** How long it remembers closed tasks, in milliseconds. */
  retentionMs: number;
}

type Described = Awaited<ReturnType<Asked['workflowService']['describeNamespace']>>;

const DEADLINE_MS = 3_000;
/** For the connection's own word, which says more. */
const GRACE_MS = 200;

/** @throws where the server does not answer within three seconds */
export async function identifyServer(connection: Asked, namespace: string): Promise<ServerIdentity> {
  const over = new AbortController();
  try {
    const asked = connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    // A worker's connection takes the deadline for one try, and goes on for 6 to 10 s where it is refused.
    const late = pause(DEADLINE_MS + GRACE_MS, undefined, { signal: over.signal }).then(() => {
      throw new Error(`the server did not answer within ${DEADLINE_MS / 1_000} seconds`);
    });
    return identityOf(await Promise.race([asked, late]), namespace);
  } finally {
    over.abort();
  }
}

function identityOf(described: Described, namespace: string): ServerIdentity {
  const { namespaceInfo, config } = described;
  if (!namespaceInfo?.id) throw new Error(`the server does not say which namespace ${namespace} is`);
  const seconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  return { id: namespaceInfo.id, retentionMs: seconds * 1_000 };
}
