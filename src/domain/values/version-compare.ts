/** The first version number in what a program answers to `--version`. */
export const versionIn = (answer: string): string | undefined => /\d+(\.\d+)+/.exec(answer)?.[0];

/** Part by part; a missing part is 0. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const at = Array.from({ length: Math.max(left.length, right.length) }, (_, i) => i).find(
    (i) => (left[i] ?? 0) !== (right[i] ?? 0),
  );
  return at !== undefined && (left[at] ?? 0) < (right[at] ?? 0);
}
