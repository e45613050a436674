import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { sha256 } from '../../adapters/sha256.ts';
import { wrongInput } from '../../domain/error.ts';
import { taskIdOf } from '../../domain/names.ts';
import type { TaskInput } from '../../domain/task/schema.ts';
import { readTask } from '../task-file.ts';
import { approvalOf, seemsApproved, type Approval } from './approval.ts';
import type { Found } from './find-files.ts';
import type { Places } from './place.ts';

/** A file that a person approved. */
export interface Approved {
  is: 'approved';
  /** The task's id: the same for the same place, or `id` in front, and approval. */
  task: string;
  approval: Approval;
  /** What it is called by other files: its `id`, else its name. */
  name: string;
  /** Stands for all that it says, without `approved`. */
  text: string;
  input: TaskInput;
}

export type Proposal = Approved | { is: 'proposed' } | { is: 'refused'; why: string };

const MAX_BYTES = 1_000_000;
const HEAD_BYTES = 4_096;

/** What is not approved may be anything, and nothing is said against it. */
export async function readProposal(file: Found, places: Places): Promise<Proposal> {
  if (file.refused !== undefined) return refused(file.refused);
  const bytes = await readBounded(file.path);
  if (!Buffer.isBuffer(bytes)) return refused(bytes.why);
  const inApproved = approvalOf({ said: undefined, folders: file.folders }) > 0;
  const head = bytes.subarray(0, HEAD_BYTES).toString('latin1');
  try {
    if (bytes.length > MAX_BYTES) throw wrongInput('is larger than 1 MB');
    const text = decoded(bytes);
    if (text.trim() === '') throw wrongInput('is empty');
    const { id, named, input, approved } = readTask({ file: file.shown, text });
    const approval = approvalOf({ said: approved, folders: file.folders });
    if (approval === 0) return { is: 'proposed' };
    if (String(input.objective ?? '').trim() === '') throw wrongInput('says nothing that is to be done');
    const place = named ? `id ${id}` : await places.of(file.path);
    const hash = sha256(`ship ${place} ${approval}`).slice(0, 16);
    return { ...{ is: 'approved', approval, name: id, input }, task: taskIdOf(id, hash), text: textOf(input) };
  } catch (error) {
    if (!inApproved && !seemsApproved(head)) return { is: 'proposed' };
    return refused(withoutFile((error as Error).message, file.shown));
  }
}

/** At most one byte more than may be. */
async function readBounded(path: string): Promise<Buffer | { why: string }> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stat = await handle.stat();
    if (!stat.isFile()) return { why: 'is no regular file' };
    const most = Math.min(stat.size, MAX_BYTES) + 1;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(most), 0, most, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    return { why: `cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})` };
  } finally {
    await handle?.close();
  }
}

function decoded(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Said below.
  }
  throw wrongInput('is not text');
}

/** `a.md:3: x is wrong` as `line 3: x is wrong`. */
const withoutFile = (message: string, file: string): string => {
  const said = message.split('\n', 1)[0]!;
  return said.startsWith(`${file}:`)
    ? said
        .slice(file.length + 1)
        .replace(/^(\d+): /, 'line $1: ')
        .trim()
    : said;
};

const textOf = (input: TaskInput): string =>
  sha256(JSON.stringify(Object.entries(input).toSorted(([one], [other]) => (one < other ? -1 : 1)))).slice(0, 16);

const refused = (why: string): Proposal => ({ is: 'refused', why });
