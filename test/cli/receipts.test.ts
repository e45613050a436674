import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { formatTrustedKeys } from '../../src/receipts/bundle/trusted-keys.ts';
import { joined, linesOf, newSigner, seal } from '../helpers/bundles.ts';
import { tempDir } from '../helpers/temp.ts';
import { cli } from './world.ts';

let temp: Awaited<ReturnType<typeof tempDir>>;
const ada = newSigner('ada');
const { text, verdict } = seal({ signer: ada });

beforeAll(async () => {
  temp = await tempDir();
  const files: Record<string, string | Buffer> = {
    'good.jsonl': text,
    'rejected.jsonl': seal({ signer: ada, failed: 'acceptance' }).text,
    'cut.jsonl': joined(linesOf(text).slice(0, 4)),
    'lying.jsonl': seal({ signer: ada, findings: [{ kind: 'exit', ok: true, summary: '\u001b[2Jgone', evidence: {} }] })
      .text,
    'keys.json': formatTrustedKeys([ada.trusted]),
    'strangers.json': formatTrustedKeys([newSigner('mallory').trusted]),
    'broken.json': '{"keys":[{}]}',
    'huge.json': Buffer.alloc(17 * 1024 * 1024, 'x'),
    binary: Buffer.from([1, 0, 2, 255]),
    empty: '',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(`${temp.path}/${name}`, content);
  await mkdir(`${temp.path}/folder`);
  await execa('mkfifo', [`${temp.path}/pipe`]);
});
afterAll(async () => temp[Symbol.asyncDispose]());

/** No server is there, and no home. */
const run = (...argv: string[]) =>
  cli(argv, { cwd: temp.path, env: { FLEET_HOME: '/nowhere', TEMPORAL_ADDRESS: '127.0.0.1:1' }, input: text });
const check = (bundle: string, ...more: string[]) => run('receipts', 'verify', bundle, '--keys', 'keys.json', ...more);

describe('fleet receipts verify', () => {
  test('shows each receipt, and that it was accepted, without a server and a home', async () => {
    const { code, out, err } = await check(
      'good.jsonl',
      '--task',
      't1',
      '--run',
      '2-abcd',
      '--verdict',
      verdict.digest,
    );
    expect([code, err]).toEqual([0, '']);
    for (const kind of ['run', 'exit', 'acceptance', 'verdict'])
      expect(out).toMatch(new RegExp(`^.?\\s*${kind}\\b`, 'm'));
    expect(out).toMatch(/^accepted$/m);
    expect(out).toContain(verdict.digest);
  });

  test('reads stdin, and gives JSON', async () => {
    const ran = await check('-', '--json');
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({
      ok: true,
      accepted: true,
      task: 't1',
      runId: '2-abcd',
      verdict: verdict.digest,
    });
  });

  test('exits 1 for what was not accepted, and for what is wrong', async () => {
    expect(await check('rejected.jsonl')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^not accepted\n {2}acceptance: /m),
    });
    const cut = await check('cut.jsonl');
    expect(cut).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^wrong \(no-verdict\): it ends without a verdict/m),
    });
    expect(cut.out).toContain('tools');
    expect(await run('receipts', 'verify', 'good.jsonl', '--keys', 'strangers.json')).toMatchObject({
      ...{ code: 1, out: expect.stringMatching(/^wrong \(wrong-key\): line 1: /) },
    });
    expect((await check('good.jsonl', '--task', 't2', '--json')).json()).toMatchObject({
      problem: 'other-task',
      line: 1,
    });
  });

  test('lets nothing through to a terminal', async () => {
    const { out } = await check('lying.jsonl');
    expect(out).toContain('gone');
    expect(out).not.toContain('\u001b[2J');
  });

  test.each([
    [['missing'], 'missing does not exist'],
    [['folder'], 'folder is a folder'],
    [['empty'], 'empty is empty'],
    [['binary'], 'binary is not text'],
    [['huge.json'], 'huge.json is larger than 16 MB'],
    [['/dev/zero'], '/dev/zero is no regular file'],
    [['pipe'], 'pipe is no regular file'],
    [['good.jsonl', '--keys', 'pipe'], 'pipe is no regular file'],
    [['good.jsonl', '--keys', 'missing'], 'missing does not exist'],
    [['good.jsonl', '--keys', 'folder'], 'folder is a folder'],
    [['good.jsonl', '--keys', 'good.jsonl'], '--keys good.jsonl is no JSON'],
    [['good.jsonl', '--keys', 'broken.json'], '--keys broken.json is wrong: keys[0].id must be a string'],
  ])('%j is bad use, told in one sentence', async (argv, sentence) => {
    const ran = await check(...(argv as [string]));
    expect(ran).toMatchObject({ code: 2, out: '', err: `fleet: ${sentence}\n` });
  });

  test('of an input without end it reads only what shows that it is too large', async () => {
    const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
    const args = [main, 'receipts', 'verify', '-', '--keys', 'keys.json'];
    const ran = await execa(process.execPath, args, {
      ...{ cwd: temp.path, inputFile: '/dev/zero', reject: false, timeout: 60_000 },
    });
    expect(ran).toMatchObject({ exitCode: 2, stderr: 'fleet: stdin is larger than 16 MB' });
  }, 90_000);

  test('without keys it says how to get them', async () => {
    expect(await run('receipts', 'verify', 'good.jsonl')).toMatchObject({
      ...{
        code: 2,
        err: 'fleet: --keys is required: the file of trusted keys\n  fleet receipts keys -o keys.json writes one\n',
      },
    });
  });
});

test.each([
  [['seal', 'good.jsonl'], '--worker is required: the name of a worker that may verify the task'],
  [['seal', '--worker', 'ada', 'missing'], 'missing does not exist'],
  [['seal', '--worker', 'ada', 'folder'], 'folder is a folder'],
  [['seal', '--worker', 'ada', 'binary'], 'binary is not text'],
  [['seal', '--worker', 'ada', 'empty'], 'empty is empty'],
  [['seal', '--worker', 'ada', 'huge.json'], 'huge.json is larger than 128 KB'],
  [['receipts', 'export', 'a', '--run', 'x'], '--run must be a whole number, not "x"'],
  [['receipts', 'verify'], "missing required argument 'bundle'"],
])('%j is bad use', async (argv, sentence) => {
  const ran = await run(...argv);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.err.split('\n')[0]).toBe(`fleet: ${sentence}`);
});
