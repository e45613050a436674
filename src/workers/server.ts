import type { AnyConnection } from '../adapters/temporal/connection.ts';
import { identifyServer } from '../adapters/temporal/server-identity.ts';

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
