const UNITS: Record<string, number> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};
const SHAPE = /^(\d+(?:\.\d+)?)\s*([KMGT]i?B|B)$/;

/** Bytes in `'500MB'`, `'1.5GiB'`; undefined where the text is no size. */
export function parseBytes(text: string): number | undefined {
  const [, amount, unit] = SHAPE.exec(text.trim()) ?? [];
  return amount && unit ? Math.round(Number(amount) * (UNITS[unit] ?? 1)) : undefined;
}

/** Bytes of a size that a schema has already checked. */
export function toBytes(text: string): number {
  const bytes = parseBytes(text);
  if (bytes === undefined) throw new Error(`not a size: ${text}`);
  return bytes;
}

/** `512 B`, `3.2 MB`, `40 GB`, for people. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const amount = bytes / 1_000 ** step;
  return `${amount >= 10 || step === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[step]}`;
}
