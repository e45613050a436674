/**
 * Asked again and again, tells what happened to something that is waited for: its end, a cancellation, or `tick` after
 * `ms`. Each promise is listened to once: a race each time would leave some 600 bytes a turn with one that stays pending.
 */
export function turns<T>(
  awaited: { ended: Promise<T>; cancelled: Promise<never> },
  ms: number,
): () => Promise<T | 'cancelled' | 'tick'> {
  let happened: (() => T | 'cancelled') | undefined;
  let wake = () => {};
  const note = (what: () => T | 'cancelled') => {
    happened ??= what;
    wake();
  };
  awaited.ended.then(
    (end) => note(() => end),
    (error: unknown) =>
      note(() => {
        throw error;
      }),
  );
  awaited.cancelled.catch(() => note(() => 'cancelled'));
  return async () => {
    if (!happened) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => (clearTimeout(timer), resolve());
      });
    }
    return happened ? happened() : 'tick';
  };
}
