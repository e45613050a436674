import { isUtf8 } from 'node:buffer';
import type { Entry } from '../entries.ts';
import type { Owner } from '../git.ts';
import { blobSizes, readBlobs } from './checkout.ts';

const MAX_FILES = 1_000;
const MAX_BYTES = 1_000_000;

/** The texts by path: the first 1,000 files of at most 1 MB each that are UTF-8. */
export async function readTexts(
  gitDir: string,
  files: ReadonlyMap<string, Entry>,
  as?: Owner,
): Promise<Map<string, string>> {
  const some = [...files].slice(0, MAX_FILES);
  const sizes = await blobSizes(
    gitDir,
    some.map(([, { id }]) => id),
    as,
  );
  const small = some.filter((_, i) => (sizes[i] ?? Infinity) <= MAX_BYTES);
  const blobs = await readBlobs(
    gitDir,
    small.map(([, { id }]) => id),
    as,
  );
  return new Map(small.flatMap(([path], i) => (isUtf8(blobs[i]!) ? [[path, String(blobs[i])] as const] : [])));
}
