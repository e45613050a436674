import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepBuildCache, layBuildCache } from '../../../src/adapters/state/build-cache.ts';

let dir: string;
const at = (path: string) => join(dir, path);
const ENTRY = '.cache/go-build/ab/abcd-d';

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fleet-cache-'));
  mkdirSync(at('base/.cache/go-build/ab'), { recursive: true });
  writeFileSync(at(`base/${ENTRY}`), 'compiled');
});
afterEach(() => rmSync(dir, { recursive: true }));

test('a later home has what the trusted build left, and changes nothing for the one behind it', async () => {
  await keepBuildCache(at('base'), at('kept'));
  await layBuildCache(at('kept'), at('one'));
  expect(readFileSync(at(`one/${ENTRY}`), 'utf8')).toBe('compiled');
  writeFileSync(at(`one/${ENTRY}`), 'poisoned');
  writeFileSync(at('one/.cache/go-build/ab/more-d'), 'poisoned');
  await layBuildCache(at('kept'), at('two'));
  expect(readFileSync(at(`two/${ENTRY}`), 'utf8')).toBe('compiled');
  expect(readdirSync(at('two/.cache/go-build/ab'))).toEqual(['abcd-d']);
});

test('what is kept stays as it was first', async () => {
  await keepBuildCache(at('base'), at('kept'));
  writeFileSync(at(`base/${ENTRY}`), 'another');
  await keepBuildCache(at('base'), at('kept'));
  expect(readFileSync(at(`kept/${ENTRY}`), 'utf8')).toBe('compiled');
  expect(readdirSync(dir).toSorted()).toEqual(['base', 'kept']);
});

test('no link is followed, and nothing else of the home is kept', async () => {
  writeFileSync(at('secret'), 'secret');
  symlinkSync(at('secret'), at('base/.cache/go-build/ab/link'));
  symlinkSync(dir, at('base/.cache/go-build/folder'));
  writeFileSync(at('base/.profile'), 'mine');
  await keepBuildCache(at('base'), at('kept'));
  expect(readdirSync(at('kept/.cache/go-build'))).toEqual(['ab']);
  expect(readdirSync(at('kept/.cache/go-build/ab'))).toEqual(['abcd-d']);
  expect(existsSync(at('kept/.profile'))).toBe(false);
});

test('a home without caches of its own leaves none', async () => {
  mkdirSync(at('empty'));
  symlinkSync(at('base/.cache'), at('empty/.cache'));
  await keepBuildCache(at('nowhere'), at('kept'));
  await keepBuildCache(at('empty'), at('kept'));
  await layBuildCache(at('kept'), at('one'));
  expect(existsSync(at('kept'))).toBe(false);
  expect(existsSync(at('one'))).toBe(false);
});
