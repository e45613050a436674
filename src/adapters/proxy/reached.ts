import { appendFileSync, readFileSync, statSync } from 'node:fs';
import type { ReachedLine } from '../../domain/network.ts';

/** No agent is to fill the disk with requests. */
const MOST = 1024 * 1024;

/** What a tree reached, as it was asked for. Where `path` is missing nobody wants to know. */
export type ReachedFile = string | undefined;

/** Never throws: what a full disk does not take is missing there. */
export function noteReached(path: ReachedFile, line: ReachedLine): void {
  if (path === undefined || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MOST) return;
  try {
    appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch {}
}

/** `all`: nothing was left out for its size. */
export function readReached(path: string): { lines: ReachedLine[]; all: boolean } {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {}
  return { lines: text.split('\n').flatMap(lineOf), all: text.length <= MOST };
}

function lineOf(text: string): ReachedLine[] {
  try {
    return [JSON.parse(text) as ReachedLine];
  } catch {
    // One that a full disk cut.
    return [];
  }
}
