import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createCoders } from '../../../src/coders/registry.ts';
import { CoderWatch } from '../../../src/workers/coders/coder-watch.ts';
import { probeCoders, usable } from '../../../src/workers/coders/probe-coders.ts';
import { tempDir } from '../../helpers/temp.ts';
import { until } from '../../helpers/until.ts';

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
    replace: (name: string, text: string) => writeFileSync(`${bin}/${name}`, text),
    remove: (name: string) => rmSync(`${bin}/${name}`),
    touch: (name: string) => writeFileSync(`${temp.path}/${name}`, ''),
    untouch: (name: string) => rmSync(`${temp.path}/${name}`),
    has: (name: string) => existsSync(`${temp.path}/${name}`),
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

test('a program that fails at --version is a coder; one that dies, or cannot be run, is none', async () => {
  await using m = await machine();
  m.install('claude', 'echo broken >&2; exit 3');
  m.install('codex', 'exit 0');
  m.install('gemini', 'echo 0.61.0');
  m.install('qwen', 'kill -SEGV $$');
  m.install('opencode', 'exec no-such-program');
  m.install('pi', '');
  m.replace('pi', '#!/no/such/interpreter\n');
  const probed = await probeCoders(m.known, m.env);
  expect([...usable(probed).keys()]).toEqual(['claude', 'codex', 'gemini']);
  const found = probed.flatMap((one) =>
    one.state === 'missing' ? [] : [[one.coder.name, one.state, 'why' in one ? one.why : one.version]],
  );
  expect(found).toEqual([
    ['claude', 'unknown', 'claude --version exited with 3'],
    ['codex', 'unknown', 'codex --version said nothing'],
    ['gemini', 'here', '0.61.0'],
    ['qwen', 'broken', 'qwen --version died by SIGSEGV'],
    ['opencode', 'broken', 'opencode --version exited with 127'],
    ['pi', 'broken', 'pi --version could not be started'],
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
  await until(() => changes > 0);
  const found = changes;
  m.remove('claude');
  await until(() => names(watch).length === 1);
  await until(() => changes > found);
  for (let i = 0; i < 3; i += 1) await watch.look();
  await watch.stop();
  // One more where a look came between.
  expect([2, 3]).toContain(changes);
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

test('one that dies at --version is used once it does not', async () => {
  await using m = await machine();
  m.install('claude', '[ -e go ] || kill -SEGV $$; echo 2.1.400');
  const watch = await m.watch();
  expect(names(watch)).toEqual([]);
  expect(m.logged).toEqual(['coder claude is not able to run here: claude --version died by SIGSEGV']);
  m.touch('go');
  await until(() => names(watch).length === 1);
  await watch.stop();
  expect(m.logged[1]).toBe('coder claude was found: 2.1.400');
});

test('who listens is called one call at a time, and again at the next look where it failed or came too late', async () => {
  await using m = await machine();
  const watch = await m.watch();
  m.install('claude', 'echo 2.1.400');
  await watch.look();
  // Found before anybody listened.
  const seen: string[] = [];
  let [running, most, failures] = [0, 0, 0];
  watch.onChange(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (m.has('refuse')) {
      failures += 1;
      throw new Error('refused');
    }
    seen.push(names(watch).join());
  });
  await until(() => seen.at(-1) === 'claude');
  m.touch('refuse');
  m.install('codex', 'echo 99.0.0');
  m.install('gemini', 'echo 99.0.0');
  await until(() => failures > 3);
  m.untouch('refuse');
  await until(() => seen.at(-1) === 'claude,codex,gemini');
  await watch.stop();
  expect(most).toBe(1);
  expect(m.logged.filter((line) => line.includes('refused'))).toEqual([
    'which coders are here could not be taken in: Error: refused; it is tried again',
  ]);
});

test('stop does not wait for a program that is being asked, and leaves nothing of it', async () => {
  await using m = await machine();
  m.install('claude', "trap '' TERM; sleep 600 & echo $! >child; wait; wait");
  const watch = await m.watch(50);
  await until(() => existsSync(`${m.path}/child`) && readFileSync(`${m.path}/child`, 'utf8').trim() !== '');
  const began = performance.now();
  await watch.stop();
  expect(performance.now() - began).toBeLessThan(60_000);
  const pid = readFileSync(`${m.path}/child`, 'utf8').trim();
  await until(() => !existsSync(`/proc/${pid}`));
  expect(m.logged).toEqual([]);
});
