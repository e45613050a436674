const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SHAPE = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Milliseconds in `'90s'`, `'1.5h'`, `'2d'`; undefined where the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = SHAPE.exec(text.trim()) ?? [];
  return amount && unit ? Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]) : undefined;
}

/** Milliseconds of a duration that a schema has already checked. */
export function toMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new Error(`not a duration: ${text}`);
  return ms;
}

/** `412ms`, `4s`, `3m 20s`, `2h 5m`: two units at most, for people. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [d, h, m, s] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  const parts = [d && `${d}d`, h && `${h}h`, m && `${m}m`, s && `${s}s`].filter(Boolean);
  return parts.slice(0, 2).join(' ') || '0s';
}
