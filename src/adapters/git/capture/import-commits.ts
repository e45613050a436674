import { checkObjectStore, readAgentHead } from './agent-head.ts';
import { isDamaged } from '../damage.ts';
import { AGENT_LIST_BYTES, TOO_MANY_FILES, treeEntries, type Tree } from '../entries.ts';
import { git, GitFailed, lastLine } from '../git.ts';
import { looseChain, type LooseCommit } from '../loose-chain.ts';
import { diskFull } from '../failures.ts';
import { alternateList, copyObjects } from '../pack.ts';

export type Carried =
  /** `head` is `base` where the agent made no commit. `tree` is the head's, empty then; `files` is what the head has. */
  { head: string; tree: string; files: Tree; commits: { id: string; subject: string }[] } | { odd: string };

const MOST_COMMITS = 1_000;
const MOST_BYTES = 2 * 1024 ** 3;
const MOST_LOG_BYTES = 16 * 1024 ** 2;

/** Brings the agent's own commits into the result repository, checked object by object; or says why not. */
export async function carryCommits(carry: {
  tree: string;
  resultDir: string;
  baseDir: string;
  base: string;
  baseTree: Tree;
}): Promise<Carried> {
  const { tree, resultDir, base } = carry;
  const head = readAgentHead(tree);
  if ('odd' in head) return head;
  if (head.commit === base) return { head: base, tree: '', files: carry.baseTree, commits: [] };
  if (head.commit.length !== base.length) return { odd: "the repository's HEAD names no commit" };
  const refused = checkObjectStore(tree, carry.baseDir);
  if (refused) return { odd: refused };
  try {
    await copyObjects({
      from: { gitDir: resultDir, env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternateList(`${tree}/.git/objects`) } },
      to: { gitDir: resultDir },
      revs: [head.commit, `^${base}`],
      strict: true,
      looseBelow: 100,
      maxBytes: MOST_BYTES,
      pack: 'keep',
    });
    const read = await readCommits(resultDir, head.commit, base);
    if ('odd' in read) return read;
    const listed = await listFiles(resultDir, head.commit);
    return 'odd' in listed ? listed : { ...read, ...listed };
  } catch (error) {
    if (diskFull(resultDir) || isNotRun(error) || (await isDamaged(carry.baseDir, error))) throw error;
    const why = error instanceof GitFailed ? lastLine(error.stderr) : String(error);
    return { odd: `the agent's commits are not sound: ${why || 'git gave no reason'}` };
  }
}

/** Git never began, which no commit can cause; one that an agent made may well have it killed. */
const isNotRun = (error: unknown): boolean =>
  error instanceof GitFailed && error.broken !== undefined && !error.broken.startsWith('SIG');

/** A few objects can stand for more files than any machine can list: whatever fails here, the commit is the cause. */
async function listFiles(gitDir: string, head: string): Promise<{ files: Tree } | { odd: string }> {
  try {
    return { files: await treeEntries(gitDir, head, { maxBytes: AGENT_LIST_BYTES }) };
  } catch (error) {
    if (diskFull(gitDir) || isNotRun(error)) throw error;
    if (!(error instanceof GitFailed)) return { odd: `the agent's commit cannot be listed: ${String(error)}` };
    const endless = error.timedOut || error.stderr === TOO_MANY_FILES;
    return {
      odd: `the agent's commit ${endless ? 'has' : 'cannot be listed:'} ${endless ? TOO_MANY_FILES : lastLine(error.stderr)}`,
    };
  }
}

type Read = Omit<Exclude<Carried, { odd: string }>, 'files'> | { odd: string };

async function readCommits(gitDir: string, head: string, base: string): Promise<Read> {
  const commits = (await looseChain(gitDir, { head, base, most: MOST_COMMITS })) ?? (await logged(gitDir, head, base));
  if (commits.length > MOST_COMMITS) return { odd: `the agent made more than ${MOST_COMMITS} commits` };
  const newest = commits.find((commit) => commit.id === head);
  if (!newest || !commits.some((commit) => commit.parents.includes(base)))
    return { odd: 'the history was rewritten: the base is not in it any more' };
  const shown = commits.map(({ id, subject }) => ({ id, subject: subject.replace(/\p{Cc}/gu, ' ').slice(0, 200) }));
  return { head, tree: newest.tree, commits: shown.reverse() };
}

async function logged(gitDir: string, head: string, base: string): Promise<LooseCommit[]> {
  const format = '--format=%H%x00%T%x00%P%x00%s';
  const range = [head, `^${base}`, '--'];
  const args = [
    'log',
    '-z',
    '--no-color',
    '--no-show-signature',
    '--encoding=UTF-8',
    '--topo-order',
    `--max-count=${MOST_COMMITS + 1}`,
  ];
  const fields = (await git([...args, format, ...range], { gitDir, maxBytes: MOST_LOG_BYTES }))
    .toString('utf8')
    .split('\0');
  const commits: LooseCommit[] = [];
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [id = '', tree = '', parents = '', subject = ''] = fields.slice(i, i + 4);
    commits.push({ id, tree, parents: parents.split(' '), subject });
  }
  return commits;
}
