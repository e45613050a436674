import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createCoders } from '../../src/coders/registry.ts';
import { CoderWatch } from '../../src/workers/coder-watch.ts';
import { probeCoders } from '../../src/workers/probe-coders.ts';
import { tempDir } from '../helpers/temp.ts';
import { until } from '../helpers/until.ts';

async function machine() {
  const temp = await tempDir();
  const bin = `${temp.path}/bin`;
  mkdirSync(bin);
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: temp.path };
  const logged: string[] = [];
  const known = [...createCoders().values()];
  return {
    ...{ env, logged, known, path: temp.path },
    install: (name: string, script: string) => {
      writeFileSync(`${bin}/${name}`, `#!/bin/sh\ncd ${temp.path}\n${script}\n`);
      chmodSync(`${bin}/${name}`, 0o755);
    },
    remove: (name: string) => rmSync(`${bin}/${name}`),
    touch: (name: string) => writeFileSync(`${temp.path}/${name}`, ''),
    watch: (startMs = 20_000) =>
      CoderWatch.start({
        ...{ known, wanted: undefined, env, log: (line: string) => void logged.push(line) },
        times: { lookMs: 20, startMs, askMs: 20 },
      }),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

const GO = 'until [ -e go ]; do sleep 0.05; done';
const names = (watch: CoderWatch) => [...watch.coders.keys()];

test('a program that is there is a coder, whatever becomes of --version', async () => {
  await using m = await machine();
  m.install('claude', 'echo broken >&2; exit 3');
  m.install('codex', 'exit 0');
  m.install('gemini', 'echo 0.61.0');
  m.install('qwen', 'kill -KILL $$');
  const found = (await probeCoders(m.known, m.env)).flatMap((one) =>
    one.state === 'missing' ? [] : [[one.coder.name, one.state, 'why' in one ? one.why : one.version]],
  );
  expect(found).toEqual([
    ['claude', 'unknown', 'claude --version exited with 3'],
    ['codex', 'unknown', 'codex --version said nothing'],
    ['gemini', 'here', '0.61.0'],
    ['qwen', 'unknown', 'qwen --version died by SIGKILL'],
  ]);
});

test('a slow program is used before it has told its version, which is known later', async () => {
  await using m = await machine();
  m.install('claude', `${GO}; echo 2.1.400`);
  const watch = await m.watch(50);
  expect([...watch.coders]).toEqual([['claude', expect.objectContaining({ version: null })]]);
  m.touch('go');
  await until(() => watch.coders.get('claude')?.version === '2.1.400');
  await watch.stop();
  expect(m.logged).toEqual([]);
});

test('one that failed is asked again, and said; one that turns out to be too old is used no more until it is new', async () => {
  await using m = await machine();
  m.install('claude', '[ -e go ] || exit 4; if [ -e new ]; then echo 2.1.400; else echo 1.0.9; fi');
  const watch = await m.watch();
  expect(names(watch)).toEqual(['claude']);
  expect(m.logged).toEqual([
    'coder claude is here, its version is not known: claude --version exited with 4; it is asked again',
  ]);
  m.touch('go');
  await until(() => names(watch).length === 0);
  m.touch('new');
  await until(() => watch.coders.get('claude')?.version === '2.1.400');
  await watch.stop();
  expect(m.logged.slice(1)).toEqual([
    'coder claude is too old: it is 1.0.9 and needs 2.1.0 or later: npm install -g @anthropic-ai/claude-code',
    'coder claude was found: 2.1.400',
  ]);
});

test('what is installed later is found, what is removed is used no more, and the order stays', async () => {
  await using m = await machine();
  m.install('gemini', 'echo 0.61.0');
  const watch = await m.watch();
  let changes = 0;
  watch.onChange(() => (changes += 1));
  expect(watch.defaultCoder).toBe('gemini');
  m.install('claude', 'echo 2.1.400');
  await until(() => names(watch).length === 2);
  expect(names(watch)).toEqual(['claude', 'gemini']);
  m.remove('claude');
  await until(() => names(watch).length === 1);
  await watch.stop();
  expect(changes).toBe(2);
  expect(m.logged[0]).toBe('coder claude was found: 2.1.400');
  expect(m.logged[1]).toMatch(/^coder claude is not here: no program claude in PATH/);
});

test('no more than two programs are asked at one time', async () => {
  await using m = await machine();
  const programs = ['claude', 'codex', 'gemini', 'qwen', 'opencode', 'pi'];
  for (const name of programs) m.install(name, `echo + >>order; ${GO}; echo - >>order; echo 99.0.0`);
  const asked = probeCoders(m.known, m.env);
  const order = () => (existsSync(`${m.path}/order`) ? readFileSync(`${m.path}/order`, 'utf8').trim().split('\n') : []);
  await until(() => order().length === 2);
  m.touch('go');
  expect((await asked).filter(({ state }) => state === 'here').map(({ coder }) => coder.name)).toEqual(programs);
  let running = 0;
  const most = Math.max(...order().map((sign) => (running += sign === '+' ? 1 : -1)));
  expect([most, order().length]).toEqual([2, 12]);
});
