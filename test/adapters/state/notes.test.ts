import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import { expect, test } from '@jest/globals';
import { copyNote, readNote } from '../../../src/adapters/state/notes.ts';
import { tempDir } from '../../helpers/temp.ts';

test('a note that an agent replaced by a link, a pipe or a linked folder is not read', async () => {
  await using temp = await tempDir();
  const notes = `${temp.path}/notes`;
  await mkdir(notes);
  await mkdir(`${temp.path}/secrets`);
  await writeFile(`${temp.path}/secrets/PLAN.md`, 'secret');
  await symlink(`${temp.path}/secrets/PLAN.md`, `${notes}/PLAN.md`);
  await execa('mkfifo', [`${notes}/PIPE.md`]);
  await symlink(`${temp.path}/secrets`, `${temp.path}/linked`);
  const read = (folder: string, name: string) => readNote({ notes: folder, name, offset: 0, max: 100 });
  expect(await read(notes, 'PLAN.md')).toBeUndefined();
  expect(await read(notes, 'PIPE.md')).toBeUndefined();
  expect(await read(`${temp.path}/linked`, 'PLAN.md')).toBeUndefined();
  expect(await copyNote(notes, `${temp.path}/kept/PLAN.md`)).toBe(false);

  await writeFile(`${notes}/REAL.md`, 'plan');
  expect(String(await read(notes, 'REAL.md'))).toBe('plan');
  expect(await copyNote(notes, `${temp.path}/kept/REAL.md`)).toBe(true);
});
