import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isTaskId } from '../../domain/names.ts';
import { isTaskFile, readTask } from '../../producers/task-file.ts';
import type { BacklogItem, Taking } from './backlog-item.ts';

const MAX_BYTES = 1_000_000;
const TAKEN = 'taken';

/** The task files of a folder by name, one task each; what was taken is moved to its folder `taken`. A broken one is told of and passed over. */
export async function* fileItems(folder: string, attempt: Taking['attempt']): AsyncGenerator<BacklogItem> {
  const names = (await readdir(folder)).filter(isTaskFile).toSorted();
  for (const name of names) {
    const path = join(folder, name);
    const item = await attempt(path, () => read(path));
    if (item) yield { ...item, from: path, settle: () => setAside(folder, name) };
  }
}

async function read(path: string): Promise<Pick<BacklogItem, 'id' | 'input'>> {
  if ((await stat(path)).size > MAX_BYTES) throw new Error('is larger than 1 MB');
  const { id, input, approved } = readTask({ file: basename(path), text: await readFile(path, 'utf8') });
  if (approved === false) throw new Error('says approved: false');
  if (!isTaskId(id)) throw new Error(`${JSON.stringify(id)} is no task id: write id into it`);
  return { id, input };
}

async function setAside(folder: string, name: string): Promise<void> {
  await mkdir(join(folder, TAKEN), { recursive: true });
  await rename(join(folder, name), join(folder, TAKEN, name));
}
