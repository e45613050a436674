import { describe, expect, test } from '@jest/globals';
import { existsSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkoutTree } from '../../../src/adapters/git/worktree/checkout.ts';
import { git, makeLab, paths, write, type Lab } from '../../helpers/git.ts';
import { tempDir } from '../../helpers/temp.ts';
import { CLAIMS, FILES } from './claims.ts';
import { NAMES, VIOLATIONS } from './names.ts';

const HIDING: Record<string, (lab: Lab) => string | string[] | void> = { ...CLAIMS, ...NAMES };
const hide = (lab: Lab, name: string): string[] => [HIDING[name]!(lab) ?? 'src/x.ts'].flat();

test('there are enough of them', () => {
  expect(Object.keys(HIDING).length + Object.keys(VIOLATIONS).length).toBeGreaterThanOrEqual(70);
});

describe('no hidden change is missed', () => {
  test.each(Object.keys(HIDING))('%s', async (name) => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, FILES);
    const hidden = hide(lab, name);
    const result = await lab.capture();
    expect(paths(result)).toEqual(expect.arrayContaining(hidden));
    expect(result.violations).toEqual([]);
    // What is delivered has it too, byte for byte as a checkout shows it.
    const told = git(result.gitDir, 'diff-tree', '-r', '-z', '--name-only', result.base, result.commit).split('\0');
    for (const path of hidden.filter((one) => !one.includes('\\x'))) expect(told).toContain(path);
    const dir = `${temp.path}/checkout`;
    await checkoutTree({ gitDir: result.gitDir, commit: result.commit, dir });
    for (const path of hidden.filter((one) => !one.includes('\\x')))
      expect(kindAt(`${dir}/${path}`)).toBe(kindAt(`${lab.tree}/${path}`));
  });
});

describe('what could lead out of the tree is a violation', () => {
  test.each(Object.keys(VIOLATIONS))('%s', async (name) => {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, FILES);
    const expected = VIOLATIONS[name]!(lab);
    expect((await lab.capture()).violations).toEqual([expected]);
  });
});

test('files in .git itself, stashes and other branches are no part of a result', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  write(lab.tree, { '.git/payload': 'x', '.git/refs/heads/x.lock': '', 'src/x.ts': 'two\n' });
  git(lab.tree, 'stash', '-q');
  git(lab.tree, 'branch', 'other', 'stash@{0}');
  expect(await lab.capture()).toMatchObject({ changes: [], commit: lab.base, violations: [], odd: null });
});

test('control: who asks git in the agent’s repository misses many of them', async () => {
  const missed: string[] = [];
  for (const name of Object.keys(HIDING)) {
    await using temp = await tempDir();
    const lab = await makeLab(temp.path, FILES);
    const hidden = hide(lab, name);
    const said = naive(lab);
    if (hidden.some((path) => !said.includes(path))) missed.push(name);
  }
  expect(missed.length).toBeGreaterThanOrEqual(15);
  expect(missed).toEqual(
    expect.arrayContaining(['assume-unchanged', 'skip-worktree', 'info/exclude', 'core.ignoreStat']),
  );
});

/** Paths that status and diff speak of. */
function naive({ tree, base }: Lab): string[] {
  const ask = (...args: string[]): string[] => {
    try {
      return git(tree, ...args).split('\0');
    } catch {
      return [];
    }
  };
  const status = ask('status', '--porcelain', '-z', '--no-renames', '-uall').map((line) => line.replace(/^.. /, ''));
  return [...status, ...ask('diff', '-z', '--name-only', '--no-renames', base)];
}

function kindAt(path: string): string {
  if (!existsSync(dirname(path)) || !lstatSync(dirname(path)).isDirectory()) return 'nothing';
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return 'nothing';
  if (stat.isDirectory()) return 'folder';
  return stat.isSymbolicLink() ? 'link' : `file${stat.mode & 0o100 ? ', executable' : ''}`;
}
