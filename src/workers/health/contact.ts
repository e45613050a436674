import { bootSeconds } from '../../adapters/program/process.ts';
import type { KeeperClient } from '../../adapters/keeper/client.ts';

/**
 * Proves to the keeper, ten times within the self-kill deadline, that this worker has contact with the server: the time
 * of sending counts. Without proof for the deadline the keeper ends its agents, before the workflow may claim elsewhere.
 * While a server of this machine is down, agents run on: nobody else can claim either.
 */
export function startContact(options: {
  keeper: Pick<KeeperClient, 'contact'>;
  /** Rejects without contact. */
  ping(): Promise<unknown>;
  /** Whether what listens at the server's address is a server of this machine; undefined where nothing listens here. */
  livesHere(): Promise<boolean | undefined>;
  selfKillMs: number;
}): { stop(): void; inContact(): boolean } {
  const { keeper, ping, livesHere, selfKillMs } = options;
  let provedAt = bootSeconds();
  // Learned only while the server answers; unlearned as soon as anything else listens in its place.
  let isHere = false;
  const prove = async () => {
    const sentAtBootSeconds = bootSeconds();
    // Asked before the answer: a server that ends right after it was there.
    const looked = livesHere().catch(() => false);
    const reached = await ping().then(
      () => true,
      () => false,
    );
    if (!reached) {
      isHere &&= (await looked) !== false;
      if (!isHere) return;
    }
    provedAt = Math.max(provedAt, sentAtBootSeconds);
    await keeper.contact({ sentAtBootSeconds });
    if (reached) isHere = (await looked) === true;
  };
  const tick = () => void prove().catch(() => undefined);
  tick();
  const timer = setInterval(tick, selfKillMs / 10);
  return {
    stop: () => clearInterval(timer),
    inContact: () => (bootSeconds() - provedAt) * 1_000 < selfKillMs,
  };
}
