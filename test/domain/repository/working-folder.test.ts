import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { taskInput } from '../../../src/domain/task/schema.ts';
import { inFolder, normalFolder } from '../../../src/domain/repository/working-folder.ts';
import { tempDir } from '../../helpers/temp.ts';

test.each([
  [undefined, undefined],
  ['.', undefined],
  ['./', undefined],
  ['./packages//web/', 'packages/web'],
])('%s is the folder %s', (cwd, folder) => expect(normalFolder(cwd)).toBe(folder));

test.each(['/etc', '..', 'a/../..', 'a/..', '.git', 'a/.GIT/hooks', 'a\nb', ''])('cwd %j is refused', (cwd) => {
  const parsed = taskInput.safeParse({ objective: 'x', repo: '/r', cwd });
  expect(parsed.error?.issues).toMatchObject([{ path: ['cwd'] }]);
});

test.each(['a', "it's $(touch x)", '-n', 'a b'])(
  'a command in %j runs there, also one of several parts',
  async (cwd) => {
    await using temp = await tempDir();
    mkdirSync(`${temp.path}/${cwd}`);
    const sh = (command: string) =>
      execFileSync('sh', ['-c', inFolder(cwd, command)], { cwd: temp.path, encoding: 'utf8' }).trim();
    expect(sh('pwd')).toBe(`${temp.path}/${cwd}`);
    expect(sh('false || pwd # here')).toBe(`${temp.path}/${cwd}`);
    // Not at the top where the folder is gone.
    expect(() => sh(`cd ..; rmdir -- "${cwd.replaceAll('$', String.raw`\$`)}"; false; exit 3`)).toThrow(
      /status 3|Command failed/,
    );
    expect(() => sh('true; echo ran')).toThrow();
  },
);
