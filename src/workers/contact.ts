import { bootSeconds } from '../adapters/process.ts';
import type { KeeperClient } from '../adapters/keeper/client.ts';

/**
 * Proves to the keeper, ten times within the self-kill deadline, that this worker has contact with the server: the time
 * of sending counts. Without proof for the deadline the keeper ends its agents, before the workflow may claim elsewhere.
 * Where this machine's own server is down, agents run on: nobody else can claim either.
 */
export function startContact(options: {
  keeper: KeeperClient;
  /** Rejects without contact. */
  ping(): Promise<unknown>;
  ownsServer: boolean;
  selfKillMs: number;
}): { stop(): void; inContact(): boolean } {
  const { keeper, ping, ownsServer, selfKillMs } = options;
  let provedAt = bootSeconds();
  const prove = async () => {
    const sentAtBootSeconds = bootSeconds();
    const reached = await ping().then(
      () => true,
      () => ownsServer,
    );
    if (!reached) return;
    provedAt = Math.max(provedAt, sentAtBootSeconds);
    await keeper.contact({ sentAtBootSeconds });
  };
  const tick = () => void prove().catch(() => undefined);
  tick();
  const timer = setInterval(tick, selfKillMs / 10);
  return {
    stop: () => clearInterval(timer),
    inContact: () => (bootSeconds() - provedAt) * 1_000 < selfKillMs,
  };
}
