import { posix } from 'node:path';
import { blobSizes, readBlobs } from './checkout.ts';
import type { Tree } from '../entries.ts';
import type { Owner } from '../git.ts';

/** A pointer is smaller, by its specification: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
const POINTER_BYTES = 1024;
const POINTER = 'version https://git-lfs.github.com/spec/v1\n';

/**
 * Paths of a commit's files that are Git LFS pointers in place of their content, sorted. One git process where no `.gitattributes`
 * names LFS, none where there is no such file.
 */
export async function lfsPointers(
  { gitDir, as }: { gitDir: string; as?: Owner | undefined },
  { entries }: Tree,
): Promise<string[]> {
  const files = [...entries].filter(([, { mode }]) => mode.startsWith('100'));
  const attributes = files.filter(([path]) => posix.basename(path) === '.gitattributes').map(([, { id }]) => id);
  const texts = await readBlobs(gitDir, attributes, as);
  if (!texts.some((text) => /\bfilter=lfs\b/.test(String(text)))) return [];
  const ids = files.map(([, { id }]) => id);
  const sizes = await blobSizes(gitDir, ids, as);
  const small = files.filter((_, i) => sizes[i]! > POINTER.length && sizes[i]! < POINTER_BYTES);
  const blobs = await readBlobs(
    gitDir,
    small.map(([, { id }]) => id),
    as,
  );
  return small.flatMap(([path], i) => (blobs[i]?.toString('latin1').startsWith(POINTER) ? path : [])).sort();
}
