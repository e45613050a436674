import { expect, test } from '@jest/globals';
import { existsSync, writeFileSync } from 'node:fs';
import { UnknownWords, untranslated } from '../../../src/adapters/keeper/command-not-found.ts';
import { until } from '../../helpers/until.ts';
import { containedBench } from '../contained-bench.ts';

test.each([
  ['exit 0', 0],
  ['exit 9', 9],
  ['no-such-command', 127],
])('%s is exit code %i', async (command, exitCode) => {
  using b = containedBench();
  expect(await b.run(command)).toMatchObject({
    exitCode,
    signal: null,
    timedOut: false,
    durationMs: expect.any(Number),
  });
});

test('the command and both its streams are appended to the log, and the last 2,000 characters come back', async () => {
  using b = containedBench();
  await b.run('echo one; echo two 1>&2');
  const { said } = await b.run('head -c 5000 /dev/zero | tr "\\0" x; echo end >&2');
  expect(b.log().toString()).toMatch(/^\$ echo one.*\n(one\ntwo|two\none)\n\$ head .*\nx{5000}end\n$/);
  expect(said).toMatch(/^x{1996}end\n$/);
});

test.each(['namespace', 'process-group'] as const)(
  'a timeout ends the whole tree with TERM, then KILL: %s',
  async (isolation) => {
    using b = containedBench();
    const command = `trap 'echo TERM' TERM; setsid sleep $TAG & (sleep $TAG &); while :; do sleep $TAG & wait $!; done`;
    const result = await b.run(command, { timeoutMs: 2_000, isolation });
    expect(result).toMatchObject({
      exitCode: null,
      signal: 'SIGKILL',
      timedOut: true,
      said: expect.stringMatching(/^TERM$/m),
    });
    // Two seconds pass from TERM to KILL.
    expect(result.durationMs).toBeGreaterThan(4_000);
    expect(b.survivors()).toEqual([]);
  },
);

test.each(['namespace', 'process-group'] as const)(
  'daemons that a command leaves are dead when it resolves: %s',
  async (isolation) => {
    using b = containedBench();
    expect(await b.run('setsid sleep $TAG & (sleep $TAG &)', { isolation })).toMatchObject({ exitCode: 0 });
    expect(b.survivors()).toEqual([]);
  },
);

test('of one that failed, its first failure comes back, with paths as the command has them, and whose shell it was', async () => {
  using b = containedBench();
  const { said } = await b.run('seq 1 2000; echo "Error: no $PWD/a.txt"; cd nowhere 2>&1; seq 1 2000; exit 1');
  expect(said).toMatch(/^\[…\]\nError: no a\.txt\nsh: 1: cd: can't cd to nowhere\n1\n[^]*\n2000$/);
  expect(said.length).toBeLessThanOrEqual(2_000);
});

test('an abort ends the command', async () => {
  using b = containedBench();
  const abort = new AbortController();
  const running = b.run('echo ready; exec sleep $TAG', { signal: abort.signal });
  await until(() => existsSync(`${b.root}/log`) && b.log().includes('\nready'));
  abort.abort();
  expect(await running).toMatchObject({ signal: 'SIGTERM', timedOut: false });
});

test('the log never grows over 8 MB and keeps its first megabyte and the end', async () => {
  using b = containedBench();
  const { said } = await b.run('echo first; head -c 40000000 /dev/zero | tr "\\0" x; echo last');
  const log = b.log();
  expect(log.length).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(log.length).toBeGreaterThan(4 * 1024 * 1024);
  expect(log.subarray(0, 200).toString()).toMatch(/^\$ .*\nfirst\nx/);
  expect(log.subarray(1024 * 1024, 1024 * 1024 + 40).toString()).toContain('output dropped here');
  expect(log.subarray(-5).toString()).toBe('last\n');
  expect(said.endsWith('xlast\n')).toBe(true);
});

test('the environment is the one given, and stdin is empty', async () => {
  using b = containedBench();
  const { said } = await b.run('cat; env | sort', { env: { A: '1', FLEET_RUN: 'r' } });
  expect(said).toMatch(/^A=1\nFLEET_RUN=r~[0-9a-f-]{36}\nPWD=.*\n$/);
});

test('a folder that is not there is an error with its name, not a result', async () => {
  using b = containedBench();
  await expect(b.run('true', { cwd: `${b.work}/missing` })).rejects.toThrow(/missing/);
  writeFileSync(`${b.work}/file`, '');
  await expect(b.run('true', { cwd: `${b.work}/file` })).rejects.toThrow(/file/);
});

test('where memory runs out, the kernel takes what is contained before the keeper and the worker', async () => {
  using b = containedBench();
  expect(await b.run('cat /proc/self/oom_score_adj')).toMatchObject({ exitCode: 0, said: '1000\n' });
});

test.each([
  ['foo', ['foo']],
  ['foo; true', ['foo']],
  ['foo | tee x', ['foo']],
  ['foo & wait', ['foo']],
  ['if foo; then :; fi; (bar); $(baz)', ['foo', 'bar', 'baz']],
  ['printf "no line break" >&2; foo; foo', ['foo']],
  ['eval foo; exec bar', ['foo', 'bar']],
  ['./missing || true', ['./missing']],
  [': >script; ./script || :', ['./script']],
  ['"two words é"; true', ['two words é']],
  ['head -c 300000 /dev/zero >&2; foo; head -c 300000 /dev/zero >&2', ['foo']],
  // What another shell did not know is that shell's affair.
  ['sh -c foo || true', []],
  ['bash -c foo || true', []],
  ['cat <missing || true', []],
  ['foo 2>/dev/null || true', []],
  ['echo "sh: 1: foo: not found" >&2', []],
  ['true', []],
])('words that the shell could not run: %s', async (command, words) => {
  using b = containedBench();
  expect((await b.run(command)).notFound).toEqual(words);
});

test('bash as the shell, a message that comes in pieces, and a locale with other words', () => {
  const unknown = new UnknownWords();
  for (const message of [': line 1: foo: command not found\n', ': line 2: ./b: No such file or directory'])
    for (const character of `noise ${unknown.name.slice(0, 5)} ${unknown.name}${message}`)
      unknown.write(Buffer.from(character));
  expect(unknown.words).toEqual(['foo', './b']);
  expect(untranslated({ A: '1', LANG: 'de_DE.UTF-8', LC_CTYPE: 'fr_FR', LC_ALL: 'it_IT' })).toEqual({
    A: '1',
    LANG: 'it_IT',
    LC_MESSAGES: 'C',
  });
});
