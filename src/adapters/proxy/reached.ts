import { appendFileSync, readFileSync, statSync } from 'node:fs';
import type { ReachedLine } from '../../domain/task/network.ts';

/** Bytes of the file: no agent is to fill the disk with requests, nor the file with what costs it nothing. */
const MOST = 1024 * 1024;
const MOST_REFUSED = MOST / 4;
/** Characters of a name, from its end. */
const NAME_MAX = 253;

/** What a tree reached, as it was asked for. Where `path` is missing nobody wants to know. */
export type ReachedFile = string | undefined;

/** Never throws: what a full disk does not take is missing there. */
export function noteReached(path: ReachedFile, line: ReachedLine): void {
  if (path === undefined) return;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const most = line.is === 'refused' ? MOST_REFUSED : MOST;
  try {
    const text = JSON.stringify({ ...line, host: line.host.slice(-NAME_MAX) });
    if (size < most) appendFileSync(path, `${text}\n`, { mode: 0o600 });
  } catch {}
}

/** `all`: nothing can have been left out for its size. */
export function readReached(path: string): { lines: ReachedLine[]; all: boolean } {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {}
  return { lines: text.split('\n').flatMap(lineOf), all: text.length < MOST_REFUSED };
}

function lineOf(text: string): ReachedLine[] {
  try {
    return [JSON.parse(text) as ReachedLine];
  } catch {
    // One that a full disk cut.
    return [];
  }
}
