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
}): { stop(): void } {
  const { keeper, ping, ownsServer, selfKillMs } = options;
  const prove = async () => {
    const sentAtBootSeconds = bootSeconds();
    const reached = await ping().then(
      () => true,
      () => ownsServer,
    );
    if (reached) await keeper.contact({ sentAtBootSeconds });
  };
  const timer = setInterval(() => void prove().catch(() => undefined), selfKillMs / 10);
  return { stop: () => clearInterval(timer) };
}
