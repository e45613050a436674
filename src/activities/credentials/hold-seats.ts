import { Context } from '@temporalio/activity';
import type { Deps } from '../worker/context.ts';

const EVERY_MS = 2_000;

/** Lasts as long as this worker's process: its end tells the credential's state that the seats taken here come back. */
export async function holdSeats(deps: Deps, whose: { credential: string; since: string }): Promise<void> {
  if (whose.since !== deps.worker.startedAt) return;
  const context = Context.current();
  const beat = () => context.heartbeat();
  beat();
  const timer = setInterval(beat, Math.min(EVERY_MS, (context.info.heartbeatTimeoutMs ?? 8_000) / 4));
  try {
    await deps.seats.presence(whose.credential).during(() => context.cancelled);
  } finally {
    clearInterval(timer);
  }
}
