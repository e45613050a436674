import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { looseChain } from '../../src/adapters/git/loose-chain.ts';
import { treeEntries } from '../../src/adapters/git/entries.ts';
import { git } from '../../src/adapters/git/git.ts';
import { tempDir } from '../helpers/temp.ts';

let temp: Awaited<ReturnType<typeof tempDir>>;
let gitDir: string;
beforeAll(async () => {
  temp = await tempDir();
  gitDir = `${temp.path}/x.git`;
  execFileSync('git', ['init', '-q', '--bare', gitDir]);
});
afterAll(async () => temp[Symbol.asyncDispose]());

const ID = { name: 'A', email: 'a@x', date: '2026-01-01T00:00:00Z' };
const env = {
  ...{ GIT_AUTHOR_NAME: ID.name, GIT_AUTHOR_EMAIL: ID.email, GIT_AUTHOR_DATE: ID.date },
  ...{ GIT_COMMITTER_NAME: ID.name, GIT_COMMITTER_EMAIL: ID.email, GIT_COMMITTER_DATE: ID.date },
};
const run = (args: string[], input = ''): string =>
  execFileSync('git', [`--git-dir=${gitDir}`, ...args], {
    env: { ...process.env, ...env },
    input,
    encoding: 'utf8',
  }).trim();
const commit = (message: string, parents: string[], flags: string[] = []): string => {
  const blob = run(['hash-object', '-w', '--stdin'], message);
  const tree = run(['mktree'], `100644 blob ${blob}\tfile\n`);
  return run([...flags, 'commit-tree', tree, ...parents.flatMap((one) => ['-p', one])], message);
};

const MESSAGES = [
  'one line',
  'two lines  \nof one subject\n\nand a body',
  '\n\n  blank lines before, spaces around  \n\nbody',
  'ümläut \u{1F600}',
  '',
];

test('the commits of a branch are as git tells them', async () => {
  const base = commit('base', []);
  const ids: string[] = [];
  for (const message of MESSAGES) ids.push(commit(message, [ids.at(-1) ?? base]));
  const head = ids.at(-1)!;
  const told = run(['log', '--format=%H %T %P %s', head, `^${base}`]).split('\n');
  const chain = await looseChain(gitDir, { head, base, most: 10 });
  expect(
    chain!.map(({ id, tree, parents, subject }) => `${id} ${tree} ${parents.join(' ')} ${subject}`.trim()),
  ).toEqual(told.map((line) => line.trim()));
  expect(chain).toHaveLength(MESSAGES.length);
});

test.each([
  ['a merge', () => commit('merge', [commit('a', [commit('root', [])]), commit('b', [])]), 10],
  ['another root', () => commit('alone', []), 10],
  ['another encoding', () => commit('caf', [commit('p', [])], ['-c', 'i18n.commitEncoding=ISO-8859-1']), 10],
  ['too many', () => commit('c', [commit('b', [commit('a', [commit('base', [])])])]), 2],
])('%s is left to git', async (_what, make, most) => {
  expect(await looseChain(gitDir, { head: make(), base: 'f'.repeat(40), most })).toBeUndefined();
});

test('what is in a pack is left to git', async () => {
  const base = commit('base of a pack', []);
  const head = commit('in a pack', [base]);
  run(['update-ref', 'refs/heads/packed', head]);
  expect(await looseChain(gitDir, { head, base, most: 10 })).toHaveLength(1);
  run(['repack', '-adq']);
  expect(await looseChain(gitDir, { head, base, most: 10 })).toBeUndefined();
});

test('a commit that was listed within one bound is not listed again for another', async () => {
  const one = commit('listed', []);
  const tree = await treeEntries(gitDir, one, { maxBytes: 10_000 });
  expect(await treeEntries('/nowhere', one)).toEqual(tree);
  await expect(treeEntries(gitDir, one, { maxBytes: 10 })).rejects.toThrow();
  expect(await treeEntries(gitDir, one)).toEqual(tree);
  await git(['fsck'], { gitDir });
});
