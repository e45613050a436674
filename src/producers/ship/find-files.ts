import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { matches, roots } from '../../adapters/glob.ts';
import { wrongInput, notFound } from '../../domain/error.ts';
import { isTaskFile } from '../task-file.ts';

/** A file that may be a proposal. */
export interface Found {
  /** As a person sees it, from where the command was typed. */
  shown: string;
  /** Without links. */
  path: string;
  /** Names of the folders that it lies in, from the given one on. */
  folders: string[];
  /** Why it is none, where it cannot be. */
  refused?: string;
}

const MOST = 10_000;

/**
 * The files of a folder with all that is below it, of a glob, or one file; by name. Folders that begin with a dot, node_modules,
 * and folders behind links are left out.
 * @throws FleetError (2) where there is no such folder, or it holds more than 10,000
 */
export async function findFiles(given: string, cwd: string): Promise<Found[]> {
  const there = await stat(resolve(cwd, given)).catch(() => undefined);
  if (there?.isDirectory()) return gather({ root: given, cwd, wanted: () => true });
  if (there) return [await oneFile(given, cwd)];
  const root = roots([given])[0] ?? '';
  if (root === given.replace(/\/+$/, '')) throw notFound(`${given} does not exist`);
  if (!(await stat(resolve(cwd, root)).catch(() => undefined))?.isDirectory())
    throw notFound(`${given} matches nothing: there is no folder ${root || '.'}`);
  const test = matches([given.slice(root.length).replace(/^\/+/, '')]);
  return gather({ root: root || '.', cwd, wanted: test });
}

async function oneFile(given: string, cwd: string): Promise<Found> {
  if (!isTaskFile(given)) throw wrongInput(`${given} must be a .md, .yaml or .yml file`);
  const top = await realpath(resolve(cwd, dirname(given)));
  return found(join(top, basename(given)), { top, shown: given });
}

interface Walk {
  root: string;
  cwd: string;
  /** `path` is below the root. */
  wanted(path: string): boolean;
}

async function gather({ root, cwd, wanted }: Walk): Promise<Found[]> {
  const top = await realpath(resolve(cwd, root));
  const files: Promise<Found>[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && entry.name !== 'node_modules') await visit(path);
      } else if (isTaskFile(entry.name) && !entry.name.startsWith('.') && wanted(relative(top, path))) {
        if (files.length >= MOST) throw wrongInput(`${root} holds more than 10,000 files: name fewer by a glob`);
        files.push(found(path, { top, shown: join(root, relative(top, path)) }));
      }
    }
  };
  await visit(top);
  return (await Promise.all(files)).toSorted((one, other) => (one.shown < other.shown ? -1 : 1));
}

async function found(path: string, { top, shown }: { top: string; shown: string }): Promise<Found> {
  const at = (real: string) => ({
    ...{ shown, path: real },
    folders: [basename(top), ...relative(top, dirname(real)).split(sep).filter(Boolean)],
  });
  if (!(await lstat(path)).isSymbolicLink()) return at(path);
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return { ...at(path), refused: 'is a link to nothing' };
  if (!real.startsWith(top + sep)) return { ...at(path), refused: `is a link out of ${basename(top)}` };
  return at(real);
}
