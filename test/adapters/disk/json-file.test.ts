import { expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJsonSync, readJson, writeJson, writeText } from '../../../src/adapters/disk/json-file.ts';

function folder() {
  const dir = mkdtempSync(join(tmpdir(), 'fleet-json-'));
  return { dir, file: `${dir}/a.json`, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}

test('reads back what was written, for our own user alone, and leaves no draft', async () => {
  using f = folder();
  expect(await readJson(f.file)).toBeUndefined();
  await writeJson(f.file, { a: 1 });
  await writeJson(f.file, { a: 2 });
  expect(await readJson(f.file)).toEqual({ a: 2 });
  expect(statSync(f.file).mode & 0o777).toBe(0o600);
  expect(readdirSync(f.dir)).toEqual(['a.json']);
});

test('a write that fails leaves the old content and no draft', async () => {
  using f = folder();
  await writeText(f.file, 'old');
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  await expect(writeJson(f.file, circular)).rejects.toThrow();
  await expect(writeJson(f.dir, {})).rejects.toThrow();
  expect(readFileSync(f.file, 'utf8')).toBe('old');
  expect(readdirSync(f.dir)).toEqual(['a.json']);
});

test('cut off at any byte, it is as if it was not there', async () => {
  using f = folder();
  const whole = JSON.stringify({ a: [1, 'two'], b: { c: null } });
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(f.file, whole.slice(0, length));
    expect(await readJson(f.file)).toBeUndefined();
  }
});

test('what cannot be written leaves nothing that counts as there', async () => {
  using f = folder();
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  expect(() => createJsonSync(f.file, circular)).toThrow();
  expect(createJsonSync(f.file, 1)).toBe(true);
});

test('creates only where there is none', async () => {
  using f = folder();
  expect([createJsonSync(f.file, 1), createJsonSync(f.file, 2)]).toEqual([true, false]);
  expect(await readJson(f.file)).toBe(1);
  expect(readdirSync(f.dir)).toEqual(['a.json']);
});
