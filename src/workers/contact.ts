import { bootSeconds } from '../adapters/process.ts';
import type { KeeperClient } from '../adapters/keeper/client.ts';

/**
 * Proves to the keeper, ten times within the self-kill deadline, that this worker has contact with the server: the time of sending counts. Without
 * proof for the self-kill deadline the keeper ends its agents, before the workflow may claim elsewhere. Where this
 * machine's own server is down, agents run on: nobody else can claim either.
 */
export function startContact(options: {
  keeper: KeeperClient;
  /** Rejects without contact. */
  ping(): Promise<unknown>;
  ownsServer: boolean;
  selfKillMs: number;
}): { stop(): Promise<void> } {
  const { keeper, ping, ownsServer, selfKillMs } = options;
  const prove = async () => {
    const sentAtBootSeconds = bootSeconds();
    const reached = await ping().then(
      () => true,
      () => ownsServer,
    );
    if (reached) await keeper.contact({ sentAtBootSeconds });
  };
  const proving = new Set<Promise<unknown>>();
  const timer = setInterval(() => {
    const proof = prove()
      .catch(() => undefined)
      .finally(() => proving.delete(proof));
    proving.add(proof);
  }, selfKillMs / 10);
  return {
    // A proof that came after the keeper's connection was closed would open another, and hold the process.
    stop: async () => {
      clearInterval(timer);
      await Promise.all(proving);
    },
  };
}
