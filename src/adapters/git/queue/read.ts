import { git } from '../git.ts';
import { listFolder, type Listed } from './list.ts';

/** One file of a queue as it is in a commit. */
export interface QueueFile {
  /** Relative to the repository, e.g. `tasks/fix-login.json`. */
  path: string;
  /** Its name without `.json`. */
  stem: string;
  /** The object id of its content. */
  id: string;
  mode: string;
  text: string;
}

export interface QueueFault {
  path: string;
  /** After the path: `is no valid JSON`. */
  message: string;
}

/** Nobody describes a task in more. */
const FILE_BYTES = 256 * 1024;
const MOST_FILES = 20_000;
/** Bytes of all files of a queue, as each becomes a task of its own. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Bytes of one answer of git. */
const BATCH_BYTES = 8 * 1024 * 1024;

type Wanted = Omit<QueueFile, 'text'> & { size: number };

/**
 * The files of one folder of a commit. Nothing is followed, laid out, or read beyond its bound: what is too much is a
 * fault, the largest files first, so that one push of giants keeps no other task from being read.
 */
export async function readQueue(read: {
  gitDir: string;
  commit: string;
  folder: string;
}): Promise<{ files: QueueFile[]; faults: QueueFault[] }> {
  const { gitDir, folder } = read;
  const isTask = (path: string): boolean => path === folder || path.endsWith('.json');
  const { entries, more } = await listFolder({ ...read, most: MOST_FILES }, isTask);
  const faults: QueueFault[] = [];
  if (more) faults.push({ path: folder, message: `has more than ${MOST_FILES} task files: the others are not read` });
  const wanted: Wanted[] = [];
  for (const { path, raw, mode, type, id, size } of entries) {
    if (path === folder && type !== 'tree') faults.push({ path, message: 'is no folder: tasks are files in one' });
    if (path === folder) continue;
    const wrong = refused({ path, raw, mode, type, size });
    if (wrong) faults.push({ path, message: wrong });
    else wanted.push({ path, mode, id, size, stem: path.slice(folder.length + 1, -'.json'.length) });
  }
  const { kept, left } = withinBounds(wanted);
  const message = `is not read: ${MOST_BYTES} bytes of tasks are read at most, the smallest first`;
  faults.push(...left.map(({ path }) => ({ path, message })));
  const texts = await readTexts(gitDir, kept);
  const files: QueueFile[] = [];
  for (const { size: _, ...one } of kept) {
    const text = texts.get(one.id);
    if (text === undefined) faults.push({ path: one.path, message: 'is no UTF-8 text' });
    else files.push({ ...one, text });
  }
  return { files, faults };
}

function refused(entry: Omit<Listed, 'id'>): string | undefined {
  const { path, raw, mode, type, size } = entry;
  if (mode === '120000') return 'is a symbolic link, which is not followed';
  if (type === 'commit') return 'is a submodule';
  if (type !== 'blob') return 'is a folder';
  if (/\p{Cc}/u.test(path) || Buffer.from(path).toString('latin1') !== raw) return 'has a name that is no plain text';
  if (size > FILE_BYTES) return `has ${size} bytes: ${FILE_BYTES} are read at most`;
  return undefined;
}

function withinBounds(wanted: readonly Wanted[]): { kept: Wanted[]; left: Wanted[] } {
  const left = new Set<Wanted>();
  let bytes = 0;
  for (const one of wanted.toSorted((a, b) => a.size - b.size)) {
    bytes += one.size;
    if (bytes > MOST_BYTES) left.add(one);
  }
  return { kept: wanted.filter((one) => !left.has(one)), left: [...left] };
}

/** By the blob's id, each asked for once; none of what is no text. */
async function readTexts(gitDir: string, wanted: readonly Wanted[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const ids of batches(new Map(wanted.map(({ id, size }) => [id, size])))) {
    const out = await git(['cat-file', '--batch'], { gitDir, input: ids.map((id) => `${id}\n`).join('') });
    let at = 0;
    for (const id of ids) {
      const head = out.indexOf(10, at);
      const size = Number(out.subarray(at, head).toString('latin1').split(' ')[2]);
      const bytes = out.subarray(head + 1, head + 1 + size);
      at = head + 1 + size + 1;
      try {
        texts.set(id, UTF8.decode(bytes));
      } catch {
        // What lacks here is named by the caller, for each of its paths.
      }
    }
  }
  return texts;
}

function batches(sizes: ReadonlyMap<string, number>): string[][] {
  const all: string[][] = [];
  let room = 0;
  for (const [id, size] of sizes) {
    if (size > room || !all.length) {
      all.push([]);
      room = BATCH_BYTES;
    }
    all.at(-1)!.push(id);
    room -= size;
  }
  return all;
}

/** A mark of the byte order stays, as every byte does. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
