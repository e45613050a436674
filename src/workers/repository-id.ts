import { sha256 } from '../adapters/sha256.ts';
import { repositoryName } from '../domain/repository/repository-name.ts';

/** A repository's id in ids of workflows: a path is asked for by its machine; the same URL is the same one everywhere. */
export function repositoryId({ repo, machine }: { repo: string; machine?: string | null | undefined }): string {
  const same = repositoryName(repo);
  const name = same.split(/[/:]/).at(-1) ?? '';
  const hash = sha256(`${machine ?? ''} ${same}`).slice(0, 10);
  return `${name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)}-${hash}`;
}
