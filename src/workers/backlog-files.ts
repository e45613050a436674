import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { isTaskId } from '../domain/names.ts';
import { slugOf } from '../domain/plan-ids.ts';
import type { TaskInput } from '../domain/task.ts';
import { readTaskFile } from '../producers/spec.ts';
import type { BacklogItem, Taking } from './take-backlog.ts';

const MAX_BYTES = 1_000_000;
const TAKEN = 'taken';

/** The task files of a folder by name, one task each; what was taken is moved to its folder `taken`. A broken one is told of and passed over. */
export async function* fileItems(folder: string, attempt: Taking['attempt']): AsyncGenerator<BacklogItem> {
  const names = (await readdir(folder)).filter((name) => /\.(ya?ml|md)$/i.test(name)).toSorted();
  for (const name of names) {
    const path = join(folder, name);
    const item = await attempt(path, () => read(path));
    if (item) yield { ...item, from: path, settle: () => setAside(folder, name) };
  }
}

async function read(path: string): Promise<Pick<BacklogItem, 'id' | 'input'>> {
  if ((await stat(path)).size > MAX_BYTES) throw new Error('is larger than 1 MB');
  const text = await readFile(path, 'utf8');
  const stem = basename(path).replace(/\.[^.]*$/, '');
  const { id, ...input } = /\.md$/i.test(path) ? fromMarkdown(stem, text) : fromYaml(stem, text);
  if (!isTaskId(id)) throw new Error(`${JSON.stringify(id)} is no task id: write id into it`);
  return { id, input };
}

function fromMarkdown(name: string, text: string): TaskInput & { id: string } {
  const { item } = readTaskFile({ file: `${name}.md`, name, text });
  const objective = [item.text, item.details].filter(Boolean).join('\n\n');
  const dependsOn = item.after?.length ? { dependsOn: [...item.after] } : {};
  return { ...item.fields, ...dependsOn, objective, id: item.label === name ? slugOf(name) : (item.label ?? '') };
}

function fromYaml(name: string, text: string): TaskInput & { id: string } {
  const value: unknown = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('must hold the fields of one task');
  return { id: slugOf(name), ...(value as TaskInput) };
}

async function setAside(folder: string, name: string): Promise<void> {
  await mkdir(join(folder, TAKEN), { recursive: true });
  await rename(join(folder, name), join(folder, TAKEN, name));
}
