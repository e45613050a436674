import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { makeLab, paths, write } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

const FILES = { 'src/x.ts': 'one\n', 'a.txt': 'a\n', '.gitignore': 'out/\n*.log\n' };

test('a path too long to open, and a worktree that is gone, are the agent’s doing', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const deep = `for i in $(seq 60); do mkdir ${'n'.repeat(90)} && cd ${'n'.repeat(90)} || exit 1; done; echo x > file`;
  execFileSync('bash', ['-c', deep], { cwd: lab.tree });
  expect((await lab.capture()).violations).toEqual([expect.stringMatching(/cannot be read \(ENAMETOOLONG\)$/)]);
  execFileSync('rm', ['-rf', lab.tree]);
  const gone = await lab.capture();
  expect(gone).toMatchObject({ violations: ['.: cannot be read (ENOENT)'], odd: 'the repository (.git) is gone' });
  expect(paths(gone)).toEqual(Object.keys(FILES).sort());
});

test('links inside, loops, and what the base had are none', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  symlinkSync('../a.txt', `${lab.tree}/src/in`);
  symlinkSync('loop', `${lab.tree}/loop`);
  symlinkSync('nowhere', `${lab.tree}/dangling`);
  expect(await lab.capture()).toMatchObject({ violations: [], odd: null });
});

test('what the base has already is not held against the agent', async () => {
  await using temp = await tempDir();
  const url = '[submodule "s"]\n\tpath = s\n\turl = ext::sh -c "x"\n\tupdate = !x\n';
  const lab = await makeLab(temp.path, { '.gitmodules': url });
  write(lab.tree, { '.gitignore': 'out\n' });
  expect(await lab.capture()).toMatchObject({ leftUncommitted: 1, violations: [] });
  write(lab.tree, { '.gitmodules': `${url}\n` });
  expect((await lab.capture()).violations).toEqual([expect.stringMatching(/^\.gitmodules: refused by git/)]);
});
