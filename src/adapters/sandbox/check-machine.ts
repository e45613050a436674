import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import type { HomeLayout } from '../../domain/names.ts';
import type { Isolation } from '../../domain/run/outcome.ts';
import { git, GitFailed, gitText } from '../git/git.ts';
import { initGitDir } from '../git/init.ts';
import { gitBroken } from '../git/failures.ts';
import { copyObjects } from '../git/pack.ts';
import { tryIsolation } from './sandbox.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { isDiskTrouble } from '../disk/free-space.ts';

interface Checked {
  /** Must exist. */
  home: HomeLayout;
  isolation: Isolation;
}

const NODE_MS = 10_000;
const SAYS = 'fleet\n';
const WHO = { NAME: 'Infinity Fleet', EMAIL: 'fleet@localhost' };

/**
 * Uses what every run needs here, for real: the home's files, node, a commit that git makes, copies and reads, and the isolation
 * with its shell. One sentence on the first that does not work; undefined: all do, or are only slow, or the disk is full, which is
 * looked after elsewhere. Some ten short processes; leaves nothing behind.
 */
export async function checkMachine({ home, isolation }: Checked): Promise<string | undefined> {
  const dir = `${home.scratch}/check-${randomBytes(4).toString('hex')}`;
  try {
    return (
      (await homeFault(home.root, dir)) ??
      (await nodeFault()) ??
      (await gitFault(dir)) ??
      (await isolationFault(isolation))
    );
  } catch (error) {
    if (isDiskTrouble(error)) return undefined;
    return `the check of this machine ended with ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await removeTree(dir).catch(() => undefined);
  }
}

async function homeFault(root: string, dir: string): Promise<string | undefined> {
  try {
    await readdir(root);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeFile(`${dir}/file`, SAYS);
    if ((await readFile(`${dir}/file`, 'utf8')) === SAYS) return undefined;
    return `its home ${root} does not give back what is written to it`;
  } catch (error) {
    if (isDiskTrouble(error)) throw error;
    return `its home ${root} cannot be read and written (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
  }
}

async function nodeFault(): Promise<string | undefined> {
  const node = await execa(process.execPath, ['--version'], { reject: false, timeout: NODE_MS });
  if (!node.failed || node.timedOut) return undefined;
  const how = node.signal
    ? `was ended by ${node.signal}`
    : `cannot be run (${node.code ?? `exit code ${node.exitCode}`})`;
  return `node at ${process.execPath} ${how}`;
}

async function gitFault(dir: string): Promise<string | undefined> {
  const [from, to] = [`${dir}/from.git`, `${dir}/to.git`];
  for (const at of [from, to]) initGitDir({ dir: at, format: 'sha1', head: 'ref: refs/heads/main', bare: true });
  const env = Object.fromEntries(
    Object.entries(WHO).flatMap(([name, value]) => ['AUTHOR', 'COMMITTER'].map((who) => [`GIT_${who}_${name}`, value])),
  );
  try {
    const blob = await gitText(['hash-object', '-w', '--stdin'], { gitDir: from, input: SAYS });
    const tree = await gitText(['mktree'], { gitDir: from, input: `100644 blob ${blob}\tfile\n` });
    const commit = await gitText(['commit-tree', tree, '-m', 'Check'], { gitDir: from, env });
    await copyObjects({ from: { gitDir: from }, to: { gitDir: to }, revs: [commit], strict: true });
    const read = await git(['cat-file', 'blob', `${commit}:file`], { gitDir: to });
    return read.toString() === SAYS ? undefined : 'git does not give back what was committed';
  } catch (error) {
    if (!(error instanceof GitFailed) || isDiskTrouble(error)) throw error;
    if (error.timedOut) return undefined;
    const why = error.broken === undefined ? error.message : gitBroken(error.broken);
    return `${why} when its check made and read a commit (git ${error.args[0]})`;
  }
}

async function isolationFault(isolation: Isolation): Promise<string | undefined> {
  const tried = await tryIsolation(isolation);
  return typeof tried === 'object'
    ? `agents and commands cannot be started in their isolation: ${tried.why}`
    : undefined;
}
