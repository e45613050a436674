import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDamaged, endedItself } from '../damage.ts';
import { git } from '../git.ts';
import { formatOf, initGitDir, isCommitId, writeRef } from '../init.ts';
import { diskFull, fail, failGit, type Failed } from '../failures.ts';
import { alternateList, copyObjects } from '../pack.ts';
import { inVault } from './vault.ts';

interface Save {
  vaultDir: string;
  gitDir: string;
  commit: string;
  ref: string;
}

/** Keeps a commit with all its history in the vault (`vault/<key>.git`), under a ref. Idempotent. */
export const saveRescue = (save: Save): Promise<{ ok: true } | Failed> =>
  inVault(save.vaultDir, async () => {
    const { vaultDir } = save;
    try {
      return await keep(save).catch(async (error: unknown) => {
        if (!(await isDamaged(vaultDir, error))) throw error;
        await renew(vaultDir);
        return keep(save);
      });
    } catch (error) {
      return failGit(error, 'repo-unavailable', `the rescue copy could not be written to ${vaultDir}`);
    }
  });

async function keep(save: Save): Promise<{ ok: true }> {
  const { vaultDir: vault, gitDir, commit, ref } = save;
  prepare(vault, commit);
  if (readRef(vault, ref) === commit) return { ok: true };
  keepShallow(vault, gitDir);
  const has = kept(vault);
  // Of the vault alone: below, what is gone from it would be found in what the result repository borrows from. The commits
  // themselves are looked for, not all that is behind them: that would take as long as the history is.
  if (has.length) await git(['rev-list', '--no-walk', '--quiet', '--stdin'], { gitDir: vault, input: has.join('\n') });
  // run from the vault, which knows what it has, looking into the result repository for what it lacks
  await copyObjects({
    from: { gitDir: vault, env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternateList(`${gitDir}/objects`) } },
    to: { gitDir: vault },
    revs: [commit, ...has.map((id) => `^${id}`)],
    strict: false,
  });
  writeRef(vault, ref, commit);
  return { ok: true };
}

/**
 * A new vault with what can still be read of a damaged one, which stays beside it for a person. It takes the place of the old one
 * only when git has told of every ref whether it can be read.
 */
async function renew(vault: string): Promise<void> {
  const aside = randomBytes(4).toString('hex');
  const made = `${vault}.renewing-${aside}`;
  try {
    for (const [ref, commit] of refsOf(vault)) {
      prepare(made, commit);
      keepShallow(made, vault);
      await copyReadable(vault, made, { ref, commit });
    }
    renameSync(vault, `${vault}.damaged-${aside}`);
    if (existsSync(made)) renameSync(made, vault);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

async function copyReadable(from: string, to: string, { ref, commit }: Pick<Save, 'ref' | 'commit'>): Promise<void> {
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternateList(`${from}/objects`) };
  try {
    await copyObjects({ from: { gitDir: to, env }, to: { gitDir: to }, revs: [commit], strict: false });
  } catch (error) {
    if (!endedItself(error) || diskFull(to)) throw error;
    return;
  }
  writeRef(to, ref, commit);
}

/** Where a rescued commit can be read; the vault stands for the result repository in `deliverBranch` and `checkoutTree`. */
export async function openRescue(open: {
  vaultDir: string;
  ref: string;
}): Promise<{ ok: true; gitDir: string; commit: string } | Failed> {
  const commit = readRef(open.vaultDir, open.ref);
  if (!commit) return fail('base-missing', `${open.vaultDir} has no rescue copy ${open.ref}`);
  try {
    await git(['cat-file', '-e', `${commit}^{tree}`], { gitDir: open.vaultDir });
    return { ok: true, gitDir: open.vaultDir, commit };
  } catch (error) {
    return failGit(error, 'base-missing', `the rescue copy ${open.ref} is damaged`);
  }
}

/** The commit that a ref of a vault names. */
export function readRef(vault: string, ref: string): string | null {
  if (!existsSync(`${vault}/${ref}`)) return null;
  const commit = readFileSync(`${vault}/${ref}`, 'utf8').trim();
  return isCommitId(commit) ? commit : null;
}

/** Commits that the vault has under a ref already. */
const kept = (vault: string): string[] => [...new Set(refsOf(vault).map(([, id]) => id))].slice(0, 1_000);

function refsOf(vault: string): [ref: string, commit: string][] {
  const names = readdirSync(`${vault}/refs`, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => statSync(`${vault}/refs/${name}`).isFile())
    .flatMap((name) => {
      const id = readRef(vault, `refs/${name}`);
      return id ? [[`refs/${name}`, id]] : [];
    });
}

function prepare(vault: string, commit: string): void {
  if (existsSync(`${vault}/HEAD`)) return;
  const temp = `${vault}.making-${randomBytes(4).toString('hex')}`;
  mkdirSync(dirname(vault), { recursive: true });
  try {
    initGitDir({ dir: temp, format: formatOf(commit), head: 'ref: refs/heads/none', bare: true });
    renameSync(temp, vault);
  } catch (error) {
    if (!existsSync(`${vault}/HEAD`)) throw error;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** A shallow history ends where the source's did: its boundary is kept along. */
function keepShallow(vault: string, gitDir: string): void {
  const lines = [vault, gitDir].flatMap((dir) =>
    existsSync(`${dir}/shallow`) ? readFileSync(`${dir}/shallow`, 'utf8').split('\n') : [],
  );
  const all = [...new Set(lines.filter(isCommitId))].sort();
  if (all.length) writeFileSync(`${vault}/shallow`, `${all.join('\n')}\n`);
}
