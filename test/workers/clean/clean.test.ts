import { expect, test } from '@jest/globals';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { loadConfig } from '../../../src/config.ts';
import { homeLayout } from '../../../src/domain/names.ts';
import { clean, type Cleaning, type CleanItem } from '../../../src/workers/clean/clean.ts';
import { Cleaner } from '../../../src/workers/clean/cleaner.ts';
import { tempDir } from '../../helpers/temp.ts';

const cleaningOf = (root: string): Cleaning => ({
  ...{
    home: homeLayout(root),
    keep: loadConfig({ home: root, env: {} }).keep,
    server: undefined,
    basesInUse: new Set<string>(),
  },
});
const item = (what: string, remove: CleanItem['remove']): CleanItem => ({
  ...{ class: 'unused', what, ageMs: 0, bytes: 0, remove },
});

test('what cannot be removed holds up nothing behind it, and is said', async () => {
  await using temp = await tempDir();
  const gone: string[] = [];
  const items = [
    item('stuck', () => Promise.reject(new Error('EACCES'))),
    item('free', async () => Boolean(gone.push('free'))),
  ];
  await expect(clean(cleaningOf(temp.path), items)).rejects.toThrow('not everything could be removed: Error: EACCES');
  expect(gone).toEqual(['free']);
});

test('a log that cannot be trimmed for want of room does not keep room from being made', async () => {
  await using temp = await tempDir();
  const { home } = cleaningOf(temp.path);
  const leftover = `${home.runs}/.trash/old`;
  mkdirSync(leftover, { recursive: true });
  writeFileSync(home.workerLog, Buffer.alloc(9 * 1024 * 1024));
  mkdirSync(`${home.workerLog}.1`);
  const said: string[] = [];
  const cleaner = new Cleaner(
    () => cleaningOf(temp.path),
    (line) => said.push(line),
  );
  await cleaner.makeRoom(async () => false);
  await cleaner.stop();
  expect(existsSync(leftover)).toBe(false);
  expect(statSync(home.workerLog).size).toBe(9 * 1024 * 1024);
  expect(said.join()).toContain('EISDIR');
});
