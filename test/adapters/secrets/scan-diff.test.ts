import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { watchCommits, writePatch } from '../../../src/adapters/git/capture/patch.ts';
import { DiffScan, type Ignored } from '../../../src/adapters/secrets/scan-diff.ts';
import { Redaction } from '../../../src/domain/secrets/redaction.ts';
import { tempDir } from '../../helpers/temp.ts';

/** Made here, so that no tool that looks for keys finds any in this repository. */
const of = (...parts: string[]) => parts.join('');
const LETTERS = 'q7Zr9Kx2Lw8Vb3Nf5Jt6Hd4Gs1Pm0Yc'.repeat(4);
const AWS = of('AK', 'IA', 'Q7ZRKX2LWVB3NF5J');
const KEYS: Record<string, string> = {
  'an AWS access key': AWS,
  'a GitHub token': of('gh', 'p_', LETTERS.slice(0, 36)),
  'an Anthropic key': of('sk-', 'ant-api03-', LETTERS.slice(0, 90)),
  'an OpenAI key': of('sk-', 'proj-', LETTERS.slice(0, 60)),
  'a Slack token': of('xox', 'b-1234567890-', LETTERS.slice(0, 24)),
  'a Google API key': of('AI', 'za', LETTERS.slice(0, 35)),
  'a Stripe key': of('sk_', 'live_', LETTERS.slice(0, 24)),
  'an npm token': of('npm', '_', LETTERS.slice(0, 36)),
};
const BLOCK = of('-----BEGIN RSA PRIV', 'ATE KEY-----\n', LETTERS.slice(0, 64), '\n');
const VALUE = 'correct-horse-7';

async function lab() {
  const temp = await tempDir();
  const dir = temp.path;
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, encoding: 'utf8' }).trim();
  git('init', '-q');
  const commit = (files: Record<string, string | Buffer>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(`${dir}/${path}`), { recursive: true });
      writeFileSync(`${dir}/${path}`, text);
    }
    git('add', '-A');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x', '--allow-empty');
    return git('rev-parse', 'HEAD');
  };
  const scan = (ignored: Partial<Ignored> = {}) =>
    new DiffScan(new Redaction({ DEPLOY_TOKEN: VALUE }), { paths: [], values: [], ...ignored });
  const look = async (base: string, head: string, ignored?: Partial<Ignored>, maxBytes = 1_000_000) => {
    const watch = scan(ignored);
    const at = { gitDir: `${dir}/.git`, base, commit: head };
    await writePatch({ ...at, file: `${dir}/.git/patch`, maxBytes, watch, secrets: { DEPLOY_TOKEN: VALUE } });
    return watch.found.map(({ path, line, what }) => `${path}:${line} ${what}`);
  };
  return { dir, commit, look, scan, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

test('keys of known shapes, blocks and values are found by file and line, in added lines alone', async () => {
  await using l = await lab();
  const base = l.commit({ 'src/a.js': 'one\ntwo\nthree\n', 'old.env': `${AWS}\nx\n` });
  const head = l.commit({
    'src/a.js': `one\nconst keys = {\n${Object.values(KEYS)
      .map((key) => `  k: '${key}',\n`)
      .join('')}};\ntwo\nthree\n${VALUE}\n`,
    'old.env': `${AWS}\ny\n`,
    'my keys/ä.pem': `${BLOCK}++ ${VALUE}`,
    'odd.txt': `++ b/x\n${AWS}`,
  });
  expect((await l.look(base, head)).sort()).toEqual(
    [
      ...Object.keys(KEYS).map((what, i) => `src/a.js:${i + 3} ${what}`),
      'src/a.js:14 the value of DEPLOY_TOKEN',
      '"my keys/\\303\\244.pem":1 a private key'.replace(/"/g, ''),
      'my keys/\\303\\244.pem:3 the value of DEPLOY_TOKEN',
      'odd.txt:2 an AWS access key',
    ].sort(),
  );
  const patch = readFileSync(`${l.dir}/.git/patch`, 'utf8');
  expect(patch).not.toContain(VALUE);
  expect(patch).toContain('+[DEPLOY_TOKEN]');
});

test('what is no key: examples, code that looks for keys, what the owner says', async () => {
  await using l = await lab();
  const base = l.commit({ 'a.txt': 'x\n' });
  const head = l.commit({
    'a.txt': [
      of('AK', 'IAIOSFODNN7EXAMPLE'),
      of('gh', 'p_', 'x'.repeat(36)),
      "if (text.startsWith('-----BEGIN PRIVATE KEY-----')) return;",
      'const KEY = /sk-ant-[a-z0-9-]{40}/;',
      'task-in-progress-sk-of-mine, sk-learn, npm_config_registry, hf_transfer, asia',
      'integrity: sha512-q7Zr9Kx2Lw8Vb3Nf5Jt6Hd4Gs1Pm0Ycq7Zr9Kx2Lw8Vb3Nf5Jt6Hd4Gs1Pm0Yc==',
      '',
    ].join('\n'),
    'test/fixtures/key.pem': BLOCK,
    'docs.md': `${AWS}\n`,
  });
  expect(await l.look(base, head, { paths: ['test/fixtures'], values: ['AKIAQ7*'] })).toEqual([]);
  expect(await l.look(base, head, { paths: ['docs.md'] })).toEqual(['test/fixtures/key.pem:1 a private key']);
});

test('what is behind the end of a patch that is cut, and on a line of megabytes, is found', async () => {
  await using l = await lab();
  const base = l.commit({ 'a.txt': 'x\n' });
  const long = `${'y'.repeat(3_000_000)} ${AWS} ${'y'.repeat(3_000_000)}`;
  const head = l.commit({ 'a.txt': `${'line\n'.repeat(10_000)}${AWS}\n`, 'b.min.js': long });
  expect(await l.look(base, head, {}, 1_000)).toEqual([
    'a.txt:10001 an AWS access key',
    'b.min.js:1 an AWS access key',
  ]);
  expect(readFileSync(`${l.dir}/.git/patch`)).toHaveLength(1_000);
});

test('a key that a later commit takes out again is told with its commit', async () => {
  await using l = await lab();
  const base = l.commit({ 'a.txt': 'x\n' });
  const first = l.commit({ 'a.txt': `x\n${AWS}\n` });
  const head = l.commit({ 'a.txt': 'x\ny\n' });
  expect(await l.look(base, head)).toEqual([]);
  const each = l.scan();
  await watchCommits({ gitDir: `${l.dir}/.git`, base, commit: head }, each);
  expect(each.found).toEqual([{ path: 'a.txt', line: 2, what: 'an AWS access key', commit: first }]);
});
