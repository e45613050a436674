/** For a push under way to come to its end once it is to stop, and again for the remote to say what stands there. */
export const STOP_MS = 8_000;

/** Aborts that long after the other one did. */
export function graceful(signal: AbortSignal): AbortSignal {
  const stop = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => stop.abort(), STOP_MS).unref(), { once: true });
  return stop.signal;
}
