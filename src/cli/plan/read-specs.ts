import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { wrongInput } from '../../domain/error.ts';
import type { Spec } from '../../domain/produce/plan.ts';
import type { SpecItem } from '../../domain/produce/plan-item.ts';
import { readSpec, readTaskFile, type LeftOut, type SpecFile } from '../../producers/spec.ts';
import type { Cli } from '../command.ts';
import { readInput } from '../input/input-file.ts';

const MAX_BYTES = 1_000_000;
/** They say what they are, not what they are about: that is the name of their folder. */
const GENERAL = new Set(['tasks', 'plan', 'spec', 'todo', 'readme', 'fleet-plan', 'index']);

export interface ReadSpecs {
  specs: Spec[];
  /** What may have been meant as a task, and is none. */
  leftOut: LeftOut[];
}

/** A markdown file, or a folder: its tasks.md, else each of its files. @throws FleetError (2) with file and line */
export async function readSpecs(cli: Cli, path: string, name: string | undefined): Promise<ReadSpecs> {
  const found = await stat(resolve(cli.cwd, path)).catch(() => undefined);
  if (!found?.isDirectory()) return oneFile(await load(cli, path, name));
  const files = (await readdir(resolve(cli.cwd, path))).filter((file) => file.endsWith('.md')).toSorted();
  if (files.length === 0) throw wrongInput(`${path} holds no .md file`);
  const whole = files.find((file) => file.toLowerCase() === 'tasks.md');
  if (whole) return oneFile(await load(cli, join(path, whole), name));
  return folder(await Promise.all(files.map((file) => load(cli, join(path, file), undefined))), {
    name: name ?? nameOfFolder(cli, path),
    path,
  });
}

/** The text of a task's artifact, as a spec. */
export const textAsSpec = (spec: SpecFile): ReadSpecs => oneFile(spec);

async function load(cli: Cli, path: string, name: string | undefined): Promise<SpecFile> {
  if (path === '-' && !name) throw wrongInput('--name is required for a spec from standard input: ids begin with it');
  return { file: path, name: name ?? nameOfFile(cli, path), text: await readInput(cli, path, { maxBytes: MAX_BYTES }) };
}

function oneFile(file: SpecFile): ReadSpecs {
  const spec = readSpec(file);
  if (!spec.hasItems)
    throw wrongInput(`${file.file} has no tasks: write each as "- [ ] what is to be done"`, {
      hint: `an agent turns prose into tasks: fleet plan ${file.file} --agent claude`,
    });
  return { specs: [spec], leftOut: spec.leftOut };
}

function folder(files: readonly SpecFile[], of: { name: string; path: string }): ReadSpecs {
  const [specs, leftOut, items]: [Spec[], LeftOut[], SpecItem[]] = [[], [], []];
  for (const file of files) {
    const spec = readSpec(file);
    leftOut.push(...spec.leftOut);
    if (spec.hasItems) specs.push(spec);
    else {
      const { item, front } = readTaskFile(file);
      if (front) items.push(item);
      else leftOut.push({ at: file.file, text: 'has neither front matter nor checkboxes' });
    }
  }
  if (specs.length + items.length === 0)
    throw wrongInput(
      `${of.path} has no tasks: none of its files has front matter, or an item "- [ ] what is to be done"`,
    );
  const root = { title: '', numbered: false, prose: '', items, sections: [] };
  const own: Spec = { name: of.name, order: 'free', dependsOn: [], at: of.path, defaults: {}, root };
  return { specs: items.length > 0 ? [own, ...specs] : specs, leftOut };
}

function nameOfFile(cli: Cli, path: string): string {
  const stem = basename(path).replace(/\.[^.]*$/, '');
  return GENERAL.has(stem.toLowerCase()) ? nameOfFolder(cli, dirname(path)) : stem;
}

const nameOfFolder = (cli: Cli, path: string): string => basename(resolve(cli.cwd, path)) || 'plan';
