import { dirname, join, relative } from 'node:path';
import { GitFailed, gitText } from '../../adapters/git/git.ts';
import { openSource } from '../../adapters/git/source/source.ts';
import { repositoryName } from '../../domain/repository/repository-name.ts';

/**
 * Where files are, said in the same way by every machine that has a clone of the same remote: `github.com/o/shop:proposals/login.md`.
 * Outside a repository, and in one without a remote, by the absolute path.
 */
export class Places {
  readonly #repositories = new Map<string, Promise<{ name: string; top: string } | undefined>>();

  async of(path: string): Promise<string> {
    const folder = dirname(path);
    const known = this.#repositories.get(folder) ?? repositoryOf(folder);
    this.#repositories.set(folder, known);
    const repository = await known;
    return repository ? `${repository.name}:${relative(repository.top, path)}` : path;
  }
}

async function repositoryOf(folder: string): Promise<{ name: string; top: string } | undefined> {
  const open = await openSource({ repo: folder, mirrorDir: () => '' });
  if (!open.ok || open.source.kind !== 'path' || !open.source.checkout) return undefined;
  const { gitDir, owner, folder: below } = open.source;
  try {
    const url = await gitText(['config', '--get', 'remote.origin.url'], { gitDir, as: owner });
    // As seen from the file, without links, as its own path is.
    const top = below ? join(folder, relative(below, '.')) : folder;
    return url ? { name: repositoryName(url), top } : undefined;
  } catch (error) {
    if (error instanceof GitFailed && error.code === 1) return undefined;
    throw error;
  }
}
