import { isIn } from '../source/ancestry.ts';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { parseWorkMeta, type WorkMeta } from '../../../domain/agent/work-meta.ts';
import { buildTree } from '../capture/build-tree.ts';
import type { Entry } from '../entries.ts';
import { git, GitFailed } from '../git.ts';
import { formatOf, isCommitId, type Identity } from '../init.ts';
import { commitObject, hashObject, writeBlobFile, writeLoose } from '../objects.ts';

/** Largest session that is saved along: a conversation is some MB. */
export const SESSION_MAX = 50 * 1024 * 1024;
/** Bytes of one note. */
export const NOTE_MAX = 1024 * 1024;
const META_MAX = 16 * 1024;

/** Saved work as read back. */
export interface WorkRecord {
  /** A repository of ours that has all of it. */
  gitDir: string;
  /** The commit that carries the meta data and the session. */
  id: string;
  /** Its parent: the tree that was saved. */
  commit: string;
  meta: WorkMeta;
}

/** Writes the commit that says what is needed to go on from `commit`, and gives its id. Same input, same id. */
export async function writeWorkRecord(write: {
  /** A repository of ours that has `commit`. */
  gitDir: string;
  commit: string;
  meta: WorkMeta;
  session: Buffer | null;
  /** The task's notes by name. */
  notes: ReadonlyMap<string, Buffer>;
  identity: Identity;
}): Promise<string> {
  const { gitDir, commit, meta, session } = write;
  const to = { gitDir, format: formatOf(commit) };
  const json = Buffer.from(`${JSON.stringify(meta)}\n`);
  const entries = new Map<string, Entry>([['meta.json', { mode: '100644', id: writeLoose(to, 'blob', json) }]]);
  if (meta.session && session) {
    const id = hashObject(to.format, 'blob', session);
    const draft = `${gitDir}/session`;
    await writeFile(draft, session, { mode: 0o600 });
    await writeBlobFile(to, { path: draft, size: session.length, id, link: false });
    entries.set(`session/${meta.session.file}`, { mode: '100644', id });
  }
  for (const [name, text] of write.notes)
    if (text.length > 0) entries.set(`notes/${name}`, { mode: '100644', id: writeLoose(to, 'blob', text) });
  const base = { entries: new Map(), folders: new Map() };
  const tree = buildTree({ entries, base, changed: entries.keys(), format: to.format });
  for (const object of tree.objects) writeLoose(to, 'tree', object);
  const seconds = Math.floor(Date.parse(meta.at) / 1_000);
  const message = `Work in progress of ${meta.taskId}, run ${meta.runId}\n`;
  return writeLoose(
    to,
    'commit',
    commitObject({ tree: tree.id, parents: [commit], identity: write.identity, seconds, message }),
  );
}

/** Undefined where it is not sound, or not one of ours: whoever may push to a remote can write its refs. */
export async function readWorkRecord(gitDir: string, id: string): Promise<WorkRecord | undefined> {
  try {
    const body = (await git(['cat-file', 'commit', id], { gitDir, maxBytes: META_MAX })).toString('utf8');
    const commit = /^parent ([0-9a-f]+)$/m.exec(body.split('\n\n', 1)[0] ?? '')?.[1] ?? '';
    const json = await git(['cat-file', 'blob', `${id}:meta.json`], { gitDir, maxBytes: META_MAX });
    const meta = parseWorkMeta(json.toString('utf8'));
    if (!meta || !isCommitId(commit)) return undefined;
    for (const [older, newer] of [
      [meta.base, meta.head],
      [meta.head, commit],
    ] as const)
      if (!(await isIn({ gitDir, commit: older, head: newer }))) return undefined;
    return { gitDir, id, commit, meta };
  } catch (error) {
    if (error instanceof GitFailed) return undefined;
    throw error;
  }
}

/** The coder's session that was saved along. */
export async function readSession(work: WorkRecord): Promise<Buffer | undefined> {
  const { session } = work.meta;
  return session ? readFileOf(work, { path: `session/${session.file}`, maxBytes: SESSION_MAX }) : undefined;
}

/** A note that was saved along. */
export const readSavedNote = (work: WorkRecord, name: string): Promise<Buffer | undefined> =>
  readFileOf(work, { path: `notes/${name}`, maxBytes: NOTE_MAX });

async function readFileOf(
  { gitDir, id }: WorkRecord,
  { path, maxBytes }: { path: string; maxBytes: number },
): Promise<Buffer | undefined> {
  if (!existsSync(gitDir)) return undefined;
  return git(['cat-file', 'blob', `${id}:${path}`], { gitDir, maxBytes }).catch(() => undefined);
}
