import type { Secrets } from '../../../domain/secrets/redaction.ts';
import { RedactStream } from '../../secrets/redact-stream.ts';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { ended, git, startGit } from '../git.ts';
import { settle } from '../pack.ts';

export interface Diffstat {
  files: number;
  insertions: number;
  deletions: number;
}

const SAFE = ['--no-ext-diff', '--no-textconv', '--no-renames', '--no-color', '--submodule=short'];

/**
 * Writes base..commit as a patch that `git apply` takes (binary files included), cut at `maxBytes`, and gives its size.
 * One process; the statistics come from its first line.
 */
export async function writePatch(patch: {
  gitDir: string;
  base: string;
  commit: string;
  file: string;
  maxBytes: number;
  /** Gets all of it, also what is cut. */
  watch?: { write(chunk: Buffer): void; end(): void };
  /** Values that the file is kept without, by their names. */
  secrets?: Secrets;
}): Promise<Diffstat & { bytes: number; truncated: boolean }> {
  const args = ['diff-tree', '-p', '--binary', '--shortstat', ...SAFE, patch.base, patch.commit];
  // Before git starts: what it says is to be read at once.
  await using file = await open(patch.file, 'w');
  const child = startGit(
    args,
    { gitDir: patch.gitDir, timeoutMs: 5 * 60_000 },
    { stdin: 'ignore', stdout: 'pipe', buffer: { stdout: false } },
  );
  const end = settle(ended(child, args));
  let stat: string | undefined;
  let [bytes, truncated, head] = [0, false, Buffer.alloc(0)];
  const parts: Buffer[] = [];
  const masked = new RedactStream(patch.secrets ?? {}, (part) => parts.push(part));
  const { watch } = patch;
  try {
    for await (const part of child.stdout as Readable) {
      let chunk = part as Buffer;
      if (stat === undefined) {
        head = Buffer.concat([head, chunk]);
        const at = head.indexOf('\n\n');
        if (at < 0) continue;
        stat = head.toString('utf8', 0, at);
        chunk = head.subarray(at + 2);
      }
      watch?.write(chunk);
      const room = patch.maxBytes - bytes;
      if (chunk.length > room) truncated = true;
      const kept = chunk.subarray(0, room);
      bytes += kept.length;
      masked.write(kept);
      for (const text of parts.splice(0)) await file.writeFile(text);
      if (truncated && !watch) break;
    }
    watch?.end();
    masked.end();
    for (const text of parts) await file.writeFile(text);
  } catch (error) {
    child.kill('SIGKILL');
    await end;
    throw error;
  }
  if (truncated && !watch) child.kill('SIGKILL');
  const failed = await end;
  if (failed && !truncated) throw failed;
  return { ...parseStat(stat ?? head.toString('utf8')), bytes, truncated };
}

/** The change of each commit behind the base, in `watch`: what a later one takes out again is in the branch all the same. */
export async function watchCommits(
  { gitDir, base, commit }: { gitDir: string; base: string; commit: string },
  watch: { write(chunk: Buffer): void; end(): void },
): Promise<void> {
  const args = ['log', '-p', '-m', '--format=commit %H', '--unified=1', ...SAFE, `${base}..${commit}`];
  const child = startGit(
    args,
    { gitDir, timeoutMs: 5 * 60_000 },
    { stdin: 'ignore', stdout: 'pipe', buffer: { stdout: false } },
  );
  const end = settle(ended(child, args));
  for await (const part of child.stdout as Readable) watch.write(part as Buffer);
  watch.end();
  const failed = await end;
  if (failed) throw failed;
}

export async function diffstat(diff: { gitDir: string; base: string; commit: string }): Promise<Diffstat> {
  const out = await git(['diff-tree', '-r', '--shortstat', ...SAFE, diff.base, diff.commit], { gitDir: diff.gitDir });
  return parseStat(out.toString('utf8'));
}

function parseStat(line: string): Diffstat {
  const number = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { files: number('file'), insertions: number('insertion'), deletions: number('deletion') };
}
