import { expect, test } from '@jest/globals';
import {
  chmodSync,
  existsSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { findWork } from '../../../src/activities/prepare/resume.ts';
import { saveWork } from '../../../src/activities/save/save-work.ts';
import { snapshotUntracked } from '../../../src/adapters/git/capture/walk.ts';
import type { Task } from '../../../src/domain/task/schema.ts';
import { git, makeLab, paths, write } from '../../helpers/git.ts';
import { goOn, makeWorkLab } from '../../helpers/work.ts';
import { tempDir } from '../../helpers/temp.ts';

const FILES = {
  'a.txt': 'a\n',
  'src/x.ts': 'one\n',
  'src/old.ts': 'old\n',
  'run.sh': '#!/bin/sh\n',
  swap: 'a file',
  '.gitignore': 'out/\n',
};

/** Names of everything in a worktree and how git sees it. */
const seen = (tree: string) => ({
  head: git(tree, 'rev-parse', 'HEAD'),
  branch: git(tree, 'branch', '--show-current'),
  status: git(tree, 'status', '--porcelain', '--untracked-files=all'),
});

test('what was uncommitted is uncommitted again: added, changed, deleted, renamed, modes, links, binary', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const { tree } = await at.run(1);
  write(tree, { 'a.txt': 'changed\n', 'deep/er/new.txt': 'new\n', 'out/ignored': 'x', 'ünï\n': 'odd' });
  rmSync(`${tree}/src/x.ts`);
  rmSync(`${tree}/src/old.ts`);
  write(tree, { 'lib/renamed.ts': 'old\n' });
  rmSync(`${tree}/swap`);
  write(tree, { 'swap/inside': 'now a folder' });
  chmodSync(`${tree}/run.sh`, 0o755);
  symlinkSync('a.txt', `${tree}/link`);
  writeFileSync(`${tree}/bin.dat`, Buffer.from([0, 255, 10, 13, 0]));
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/latin-`), Buffer.from([0xe9])]), 'bytes');

  const saved = await saveWork(at.deps, { taskId: 't1', runId: '1-a' });
  expect(saved).toMatchObject({ head: lab.base, session: null, pushed: false });
  const next = await goOn(lab, at);
  expect(next.resumed).toMatchObject({ runId: '1-a', why: 'it stalled', saved: { commit: saved!.commit } });
  rmSync(`${tree}/out`, { recursive: true });
  expect(seen(next.tree)).toEqual(seen(tree));
  expect(seen(next.tree).branch).toBe('fleet/t1');
  expect(existsSync(`${next.tree}/src`)).toBe(false);
  expect(readlinkSync(`${next.tree}/link`)).toBe('a.txt');
  expect(statSync(`${next.tree}/run.sh`).mode & 0o777).toBe(0o755);
  expect([...readFileSync(`${next.tree}/bin.dat`)]).toEqual([0, 255, 10, 13, 0]);
  // The next result holds it all.
  const result = await lab.capture({ tree: next.tree, resultDir: `${temp.path}/next.git` });
  expect(result.tree).toBe(git(`${lab.home.vaultOf('repo')}`, 'rev-parse', `${saved!.commit}^{tree}`));
});

test('commits of the agent with uncommitted work on top: HEAD is its own commit, and its repository is whole', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const { tree } = await at.run(1);
  write(tree, { 'one.txt': '1', 'a.txt': 'first\n' });
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'one');
  rmSync(`${tree}/one.txt`);
  write(tree, { 'a.txt': 'second\n', 'two.txt': '2' });
  const saved = await saveWork(at.deps, { taskId: 't1', runId: '1-a' });
  expect(saved!.head).toBe(git(tree, 'rev-parse', 'HEAD'));
  const next = await goOn(lab, at);
  expect(seen(next.tree)).toEqual(seen(tree));
  expect(git(next.tree, 'fsck', '--full', '--strict')).toBe('');
  git(next.tree, 'add', '-A');
  git(next.tree, 'commit', '-qm', 'two');
  const result = await lab.capture({ tree: next.tree, resultDir: `${temp.path}/next.git` });
  expect(result).toMatchObject({ odd: null, leftUncommitted: 0, commits: [{ subject: 'one' }, { subject: 'two' }] });
  expect(paths(result)).toEqual(['a.txt', 'two.txt']);
});

test('what setup makes anew is not the work’s, and the work is not what setup makes', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const setup = (tree: string) => write(tree, { gen: 'by setup', 'a.txt': 'by setup', same: 'by setup' });
  const { tree, prepared } = await at.run(1);
  setup(tree);
  prepared.preexisting = await snapshotUntracked({ tree, baseDir: lab.baseDir, base: lab.base });
  write(tree, { mine: 'work', gen: 'by the agent' });
  await saveWork(at.deps, { taskId: 't1', runId: '1-a' });
  const next = await goOn(lab, at, { setup: (dir) => (setup(dir), write(dir, { mine: 'work' })) });
  expect(readFileSync(`${next.tree}/gen`, 'utf8')).toBe('by the agent');
  expect(readFileSync(`${next.tree}/a.txt`, 'utf8')).toBe('by setup');
  const { preexisting } = next.prepared;
  const result = await lab.capture({ tree: next.tree, resultDir: `${temp.path}/next.git`, preexisting });
  expect(paths(result)).toEqual(['gen', 'mine']);
});

test('work of another task or of no run that may be used is left alone; on another base it is merged with that', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const { tree } = await at.run(1);
  write(tree, { 'b.txt': 'b' });
  await saveWork(at.deps, { taskId: 't1', runId: '1-a' });
  expect((await goOn(lab, at, { n: 2, from: ['7-a'] })).found).toBeNull();
  expect((await goOn(lab, at, { n: 3 })).found).not.toBeNull();
  const order = { taskId: 't2', runId: '3-a', task: {} as Task, resume: { runIds: ['1-a'], why: '' } };
  const { prepared } = await at.run(4);
  expect(await findWork(at.deps, order, prepared)).toBeNull();
  expect(await findWork(at.deps, { ...order, taskId: 't1' }, { ...prepared, base: 'f'.repeat(40) })).not.toBeNull();
});

test('the newest run’s work is taken, an older one’s where the newest saved nothing', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  for (const n of [1, 2]) {
    const { tree } = await at.run(n);
    write(tree, { 'b.txt': `of ${n}` });
    await saveWork(at.deps, { taskId: 't1', runId: `${n}-a` });
  }
  expect((await goOn(lab, at, { n: 4, from: ['3-a', '2-a', '1-a'] })).resumed).toMatchObject({ runId: '2-a' });
});

test('a rewritten history is saved as files on the base', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const { tree } = await at.run(1);
  git(tree, 'checkout', '-q', '--orphan', 'lone');
  write(tree, { 'b.txt': 'b' });
  git(tree, 'add', '-A');
  expect(await saveWork(at.deps, { taskId: 't1', runId: '1-a' })).toMatchObject({ head: lab.base });
  const next = await goOn(lab, at);
  expect(seen(next.tree)).toEqual({ head: lab.base, branch: 'fleet/t1', status: '?? b.txt' });
});
