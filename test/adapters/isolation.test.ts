import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { childrenOf } from '../../src/adapters/program/process.ts';
import { containedArgv, detectIsolation } from '../../src/adapters/sandbox/sandbox.ts';
import { until } from '../helpers/until.ts';
import { containedBench } from './contained-bench.ts';

test('the self-test finds namespaces here', async () => {
  expect(await detectIsolation()).toEqual({ isolation: 'namespace' });
});

test('of the home, only the shown folders are there, and the base store is read-only', async () => {
  using b = containedBench();
  const { said } = await b.run(
    'cd $H; find . | sort; cat keys/key runs/t/1-a/exit.json; touch x bases/r/x; touch runs/t/1-a/work/mine',
  );
  expect(said.split('\n').slice(0, 9)).toEqual([
    '.',
    './bases',
    './bases/r',
    './bases/r/object',
    './runs',
    './runs/t',
    './runs/t/1-a',
    './runs/t/1-a/work',
    expect.any(String),
  ] as string[]);
  expect(said.match(/No such file/g)).toHaveLength(2);
  expect(said.match(/Read-only file system/g)).toHaveLength(2);
  expect(readFileSync(`${b.work}/mine`, 'utf8')).toBe('');
});

test("the user's repository is not there, and the agent cannot undo any of it", async () => {
  using b = containedBench();
  const undo =
    'cat $R/file; for c in "mount -o remount,rw $R" "umount $R" "umount $H" "mount -o remount,bind,rw $H/bases/r"; do $c && echo undone; done';
  const { said } = await b.run(
    `${undo}; for f in $R/file $H/bases/r/object $H/x; do echo bad >$f && echo written; done; ls $H/keys`,
  );
  expect(said).not.toMatch(/secret|undone|written|key\n/);
});

test('a root that looks at the init, at other processes or at descriptors finds no way out', async () => {
  using b = containedBench();
  const { said } = await b.run(
    'ls /proc/1/root$H /proc/1/cwd/ /proc/[0-9]*/fd/ | sort | uniq -c; ls -d /proc/[0-9]* | wc -l',
  );
  expect(said).not.toMatch(/keys|exit\.json/);
  expect(Number(said.trim().split('\n').at(-1))).toBeLessThan(8);
});

test.each(['home inside what can be read', 'read inside the home', 'read inside the work folder'])(
  '%s',
  async (where) => {
    using b = containedBench();
    const repo = { i: b.root, n: `${b.home}/keys`, w: `${b.work}/repo` }[
      where.startsWith('home') ? 'i' : where.endsWith('home') ? 'n' : 'w'
    ];
    mkdirSync(repo, { recursive: true });
    const { said, exitCode } = await b.run(`touch work $PWD/ok && echo ok; touch ${repo}/new || echo refused`, {
      read: [repo],
    });
    expect(said).toContain('ok\n');
    expect(said).toContain('refused');
    expect(exitCode).toBe(0);
  },
);

test('paths by way of a link, and with spaces and quotes in them', async () => {
  using b = containedBench();
  const odd = `${b.home}/a 'b" $c`;
  mkdirSync(`${odd}/in`, { recursive: true });
  symlinkSync(odd, `${b.root}/link`);
  const { said } = await b.run('pwd; touch x && echo ok', {
    cwd: `${b.root}/link/in`,
    show: [{ path: `${b.root}/link` }],
  });
  expect(said).toBe(`${odd}/in\nok\n`);
});

test('a folder outside of the home cannot be shown', () => {
  using b = containedBench();
  const plan = { isolation: 'namespace' as const, home: b.home, show: [{ path: b.repo }] };
  expect(() => containedArgv(plan, { argv: ['true'], cwd: b.work })).toThrow(/is not inside/);
});

test('another fleet home on the machine is not there at all', async () => {
  using b = containedBench();
  const other = `${b.root}/other-home`;
  mkdirSync(other);
  writeFileSync(`${other}/keeper.sock`, '');
  const { said } = await b.run(`ls -A ${other} | wc -l`, { read: [b.root], hide: [other, `${b.root}/missing`] });
  expect(said.trim()).toBe('0');
});

test('another home that goes away while an agent starts is no hindrance', async () => {
  using b = containedBench();
  const gone = `${b.root}/gone-home`;
  mkdirSync(gone);
  const plan = { isolation: 'namespace' as const, home: b.home, show: [{ path: b.work }], hide: [gone] };
  const [file, ...args] = containedArgv(plan, { argv: ['true'], cwd: b.work });
  rmdirSync(gone);
  const child = spawn(file!, args, { cwd: '/', stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const control = child.stdio[3] as Socket;
  control.end('go\n');
  expect(await text(control)).toBe('ready\nexit 0\n');
});

test('no command line on the machine names a folder of the plan', async () => {
  using b = containedBench();
  const run = b.run('until [ -e go ]; do sleep 0.05; done', { read: [b.repo] });
  const lines = await until(async () => {
    const all = childrenOf(process.pid)!.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    return all.some((line) => line.includes('until')) && all;
  });
  expect(lines.join()).not.toContain(b.root);
  writeFileSync(`${b.work}/go`, '');
  expect(await run).toMatchObject({ exitCode: 0 });
});
