import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { artifacts } from '../../../src/receipts/kinds/artifacts.ts';
import { evidenceOf } from '../evidence.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fleet-artifacts-'));
  await mkdir(join(dir, 'tree'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, 'tree', path)), { recursive: true });
  await writeFile(join(dir, 'tree', path), text);
}
const collect = (...globs: string[]) =>
  artifacts.collect(
    evidenceOf({ task: { artifacts: globs }, rest: { tree: join(dir, 'tree'), outputsDir: join(dir, 'out') } }),
  );

test('each output is hashed and copied, also an ignored one', async () => {
  await put('.gitignore', 'dist\n');
  await put('dist/a.js', 'let a');
  await put('dist/sub/b.js', 'let b');
  await put('report.md', '# R');
  await put('.git/report.md', 'no');
  const finding = await collect('dist', '*.md');
  expect(finding).toMatchObject({ ok: true, summary: '3 outputs, 13 bytes' });
  const sha256 = createHash('sha256').update('let a').digest('hex');
  expect(finding?.evidence['outputs']).toContainEqual({ path: 'dist/a.js', size: 5, sha256 });
  expect(await readFile(join(dir, 'out/dist/sub/b.js'), 'utf8')).toBe('let b');
  await expect(readFile(join(dir, 'out/.git/report.md'))).rejects.toThrow('ENOENT');
});

describe('not ok', () => {
  test('nothing matches', async () => {
    await put('a.txt', 'a');
    expect(await collect('a.txt', 'b/*.txt')).toMatchObject({ ok: false, summary: 'nothing matches b/*.txt' });
  });

  test('empty', async () => {
    await put('a.txt', '');
    expect(await collect('a.txt')).toMatchObject({ ok: false, summary: 'a.txt is empty' });
  });

  test('a symbolic link, wherever it points', async () => {
    await put('real.txt', 'x');
    await symlink('/etc/passwd', join(dir, 'tree/a.txt'));
    await symlink('real.txt', join(dir, 'tree/b.txt'));
    expect(await collect('a.txt')).toMatchObject({ ok: false, summary: 'a.txt is a symbolic link' });
    expect(await collect('b.txt')).toMatchObject({ ok: false, summary: 'b.txt is a symbolic link' });
  });

  test('below a folder that is a link', async () => {
    await symlink('/etc', join(dir, 'tree/out'));
    expect(await collect('out/passwd')).toMatchObject({ ok: false, summary: 'nothing matches out/passwd' });
  });

  test('a pipe is not opened', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(dir, 'tree/a.txt')]);
    expect(await collect('a.txt')).toMatchObject({ ok: false, summary: 'a.txt is no regular file' });
  });

  test('too large, before anything is copied', async () => {
    await put('big', 'x');
    await truncate(join(dir, 'tree/big'), 101 * 1024 * 1024);
    expect(await collect('big')).toMatchObject({ ok: false, summary: expect.stringContaining('too large') });
    await expect(readFile(join(dir, 'out/big'))).rejects.toThrow('ENOENT');
  });
});

test('an endless number of matches is not gathered', async () => {
  await mkdir(join(dir, 'tree/out'));
  for (let i = 0; i <= 20_000; i += 1) writeFileSync(join(dir, `tree/out/${i}`), '');
  expect(await collect('out')).toEqual({
    ok: false,
    summary: 'the outputs are more than 20000 files and folders: too many to look through',
    evidence: { matched: 20_001 },
  });
}, 60_000);

test('a link or an empty file beside a good one is passed over', async () => {
  await put('out/a', 'a');
  await put('out/empty', '');
  await symlink('a', join(dir, 'tree/out/latest'));
  expect(await collect('out')).toMatchObject({ ok: true, evidence: { files: 1 } });
});

test('a name that is no text does not break it', async () => {
  await put('a.txt', 'a');
  await mkdir(Buffer.concat([Buffer.from(join(dir, 'tree/')), Buffer.from([0xff, 0xfe])]));
  await writeFile(Buffer.concat([Buffer.from(join(dir, 'tree/')), Buffer.from([0xff])]), 'x');
  expect(await collect('**')).toMatchObject({ ok: true, evidence: { files: 1 } });
});

test('without declared outputs there is no receipt', async () => expect(await collect()).toBeUndefined());
