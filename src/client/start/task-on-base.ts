import { treeEntries, type Tree } from '../../adapters/git/entries.ts';
import { reading, type PathSource } from '../../adapters/git/source/source.ts';
import { readBlobs } from '../../adapters/git/worktree/checkout.ts';
import type { PolicyTask, RepoFile } from '../../domain/repository/repo-policy.ts';
import { normalFolder } from '../../domain/repository/working-folder.ts';

/** The commit that a task starts from. */
export interface Base {
  tree: Tree;
  paths: ReadonlySet<string>;
  /** A file's text, read once. */
  read(path: string): Promise<string | undefined>;
}

/** A task on its base. */
export interface TaskOnBase {
  at: Base;
  task: PolicyTask;
  file: RepoFile;
}

export async function openBase(source: PathSource, commit: string): Promise<Base> {
  const { gitDir, as } = reading(source);
  const tree = await treeEntries(gitDir, commit, { as });
  const texts = new Map<string, Promise<string | undefined>>();
  const textOf = async (path: string) => {
    const entry = tree.entries.get(path);
    if (!entry?.mode.startsWith('100')) return undefined;
    return String((await readBlobs(gitDir, [entry.id], as))[0]);
  };
  const read = (path: string) => {
    const text = texts.get(path) ?? textOf(path);
    texts.set(path, text);
    return text;
  };
  return { tree, paths: new Set(tree.entries.keys()), read };
}

/** Those of the task run in its folder, those of the repository at the top. */
export function commandsOf(
  { verify, cwd }: TaskOnBase['task'],
  file: RepoFile,
): { command: string; folder: string | undefined }[] {
  if (verify?.commands) return verify.commands.map((command) => ({ command, folder: normalFolder(cwd) }));
  return (file.verify?.commands ?? []).map((command) => ({ command, folder: undefined }));
}
