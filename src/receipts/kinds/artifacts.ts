import { createHash } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { lstat, mkdir, open, opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '../../adapters/sha256.ts';
import { matches } from '../../adapters/glob.ts';
import { pathsOf } from '../../domain/artifact/artifact.ts';
import type { ReceiptCollector } from '../../ports.ts';
import { checkArtifacts } from './artifact-checks.ts';
import { clip, counted, named, sample } from '../bounded.ts';

const CAP_BYTES = 100 * 1024 * 1024;
const FILES_MAX = 1_000;
const MATCHES_MAX = 20_000;
/** Names looked at on the way: more than any installed packages have. */
const NAMES_MAX = 1_000_000;
const LISTED = 12;

interface Output {
  path: string;
  size: number;
  sha256: string;
}
interface Entry {
  path: string;
  kind: 'file' | 'empty' | 'link' | 'special';
  size: number;
}

interface Look {
  root: string;
  wanted: (path: string) => boolean;
  /** Names that may still be looked at; below 0 the walk has given up. */
  left: number;
}

/** Declared outputs in the agent's tree, ignored files among them: hashed, and copied to where they stay. No link is followed. */
export const artifacts: ReceiptCollector = {
  kind: 'artifacts',
  async collect(given) {
    const { task, tree, outputsDir } = given;
    if (task.artifacts.length === 0) return undefined;
    const entries: Entry[] = [];
    const globs = pathsOf(task.artifacts);
    const look = { root: tree, wanted: matches(globs), left: NAMES_MAX };
    for await (const entry of walk(look, '')) if (entries.push(entry) > MATCHES_MAX) break;
    if (entries.length > MATCHES_MAX || look.left < 0) {
      const what = look.left < 0 ? `the tree has more than ${NAMES_MAX}` : `the outputs are more than ${MATCHES_MAX}`;
      const summary = `${what} files and folders: too many to look through`;
      return { ok: false, summary, evidence: { matched: entries.length } };
    }
    const missing = globs.flatMap((glob) => lacking(glob, entries) ?? []);
    const files = entries.filter(({ kind }) => kind === 'file');
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (missing.length > 0)
      return { ok: false, summary: named(missing), evidence: { missing: missing.slice(0, LISTED) } };
    if (bytes > CAP_BYTES || files.length > FILES_MAX) {
      const summary = `the outputs are too large: ${counted(files.length, 'file')}, ${bytes} bytes (at most ${FILES_MAX} and ${CAP_BYTES})`;
      return { ok: false, summary, evidence: { files: files.length, bytes } };
    }
    const outputs: Output[] = [];
    for (const { path } of files) {
      const output = await copy(tree, path, outputsDir);
      if (!output) return { ok: false, summary: `${path} cannot be read`, evidence: { path } };
      outputs.push(output);
    }
    const manifest = sha256(JSON.stringify(outputs));
    const { problems, unknown, checks } = await checkArtifacts(
      given,
      outputs.map(({ path }) => path),
    );
    const evidence = {
      files: outputs.length,
      bytes,
      manifest,
      outputs: outputs.slice(0, LISTED).map((output) => ({ ...output, path: clip(output.path, 120) })),
      ...(checks > 0 ? { checks, problems: sample(problems), unknown: sample(unknown) } : {}),
    };
    if (problems.length > 0) return { ok: false, summary: problems.slice(0, 5).join('; '), evidence };
    const notes = [
      checks > 0 && unknown.length === 0 && `${counted(checks, 'check')} passed`,
      unknown.length > 0 && `not known: ${unknown.slice(0, 5).join('; ')}`,
    ].filter((note) => note !== false);
    return {
      ok: true,
      ...(checks > 0 ? { shows: unknown.length === 0 } : {}),
      summary: [`${counted(outputs.length, 'output')}, ${bytes} bytes`, ...notes].join('; '),
      evidence,
    };
  },
};

/** What is wrong with the best that a glob matches; undefined where it matches a regular file with something in it. */
function lacking(glob: string, entries: readonly Entry[]): string | undefined {
  const isMine = matches([glob]);
  const mine = entries.filter(({ path }) => isMine(path));
  if (mine.some(({ kind }) => kind === 'file')) return undefined;
  const [first] = mine;
  if (!first) return `nothing matches ${glob}`;
  const what = { empty: 'is empty', link: 'is a symbolic link', special: 'is no regular file', file: '' }[first.kind];
  return `${first.path} ${what}`;
}

/**
 * Everything but folders, in a fixed order; links are told, not followed. The root's `.git` is left out, and so is what
 * cannot be reached (no permission, a name that is no text): it is nothing that anybody could use.
 */
async function* walk(look: Look, below: string): AsyncGenerator<Entry> {
  const found: Dirent[] = [];
  const folder = await opendir(join(look.root, below), { bufferSize: 1_024 }).catch(unreachable);
  for await (const entry of folder ?? []) {
    look.left -= 1;
    if (look.left < 0) return;
    found.push(entry);
  }
  for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (look.left < 0) return;
    const path = below ? `${below}/${entry.name}` : entry.name;
    if (path === '.git') continue;
    if (entry.isDirectory()) yield* walk(look, path);
    else if (look.wanted(path)) {
      const stat = await lstat(join(look.root, path)).catch(unreachable);
      if (stat) yield { path, size: stat.size, kind: kindOf(stat) };
    }
  }
}

function kindOf(found: { isFile(): boolean; isSymbolicLink(): boolean; size: number }): Entry['kind'] {
  if (found.isSymbolicLink()) return 'link';
  if (!found.isFile()) return 'special';
  return found.size === 0 ? 'empty' : 'file';
}

function unreachable(error: NodeJS.ErrnoException): undefined {
  if (!['ENOENT', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ENOTDIR'].includes(error.code ?? '')) throw error;
}

/** Hashes what it copies, in one pass; undefined for a file that cannot be opened. */
async function copy(tree: string, path: string, outputsDir: string): Promise<Output | undefined> {
  await using from = await open(join(tree, path), constants.O_RDONLY | constants.O_NOFOLLOW).catch(unreachable);
  if (!from) return undefined;
  const target = join(outputsDir, path);
  await mkdir(dirname(target), { recursive: true });
  await using to = await open(target, 'w');
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of from.createReadStream({ autoClose: false })) {
    hash.update(chunk as Buffer);
    await to.writeFile(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { path, size, sha256: hash.digest('hex') };
}
