import { expect, test } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { processTable } from '../../src/adapters/program/process.ts';
import { until } from '../helpers/until.ts';
import { bench, PATIENT_LADDER } from './keeper-bench.ts';

const tsx = createRequire(import.meta.url).resolve('tsx');
const launcher = fileURLToPath(new URL('../fixtures/agents/launcher.ts', import.meta.url));

test('kill -9 of the client leaves the agent running, and a new client finds the same process', async () => {
  await using b = await bench({ ladder: PATIENT_LADDER });
  const order = b.order('echo up; exec sleep $TAG');
  const child = spawn(process.execPath, ['--import', tsx, launcher, b.home.root, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  const pid = await new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  expect(await b.client.status(b.ref)).toMatchObject({ state: 'live', pid });
  await until(() => b.survivors().length === 1);
  await b.client.stop({ ...b.ref, reason: 'killed' });
  expect(await b.end()).toMatchObject({ stopped: 'killed', signal: 'SIGTERM' });
});

test('without a client the keeper stays for its agent and leaves with it', async () => {
  await using b = await bench();
  await b.launch(b.order('read line; while [ ! -e go ]; do :; done; echo done'));
  const pid = await b.client.pid();
  b.client.close();
  writeFileSync(`${b.run.tree}/go`, '');
  await until(() => existsSync(b.run.exit));
  await until(() => !existsSync(b.home.keeperSocket));
  const next = await b.connect();
  expect(await next.pid()).not.toBe(pid);
  expect(await b.end(next)).toMatchObject({ exitCode: 0, stdout: { bytes: 5 } });
});

test('two clients that start a keeper at once share one, behind a socket of our own', async () => {
  await using b = await bench();
  b.client.close();
  await until(() => !existsSync(b.home.keeperSocket));
  const [one, two] = await Promise.all([b.connect(), b.connect()]);
  expect(await one.pid()).toBe(await two.pid());
  expect(statSync(b.home.keeperSocket).mode & 0o777).toBe(0o600);
});

test('a client goes on with the next keeper', async () => {
  await using b = await bench();
  const pid = await b.client.pid();
  process.kill(pid, 'SIGKILL');
  await until(() =>
    b.client.list().then(
      (runs) => runs.length === 0,
      () => false,
    ),
  );
  expect(await b.client.pid()).not.toBe(pid);
  b.client.close();
  await b.connect();
});

test('a full disk drops text, not the count, and the run ends', async () => {
  await using b = await bench();
  if (process.getuid!() !== 0) return;
  mkdirSync(b.logs, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'fleet-test', b.logs]);
  try {
    await b.launch(b.order('head -c 3000000 /dev/zero'));
    expect(await b.end()).toMatchObject({ exitCode: 0, stdout: { bytes: 3_000_000 } });
  } finally {
    execFileSync('umount', [b.logs]);
  }
});

test('in a process group, daemons that left it are found by their mark', async () => {
  await using b = await bench();
  const script = `setsid sh -c 'trap "" INT TERM; sleep $TAG' & (setsid sleep $TAG &); trap '' INT TERM; echo up; sleep $TAG; sleep $TAG`;
  await b.launch(b.order(script, { isolation: 'process-group' }));
  await until(() => existsSync(b.logs) && b.output().includes('up') && b.survivors().length >= 2);
  await b.client.stop({ ...b.ref, reason: 'killed' });
  expect(await b.end()).toMatchObject({ stopped: 'killed', signal: 'SIGKILL', isolation: 'process-group' });
  expect(b.survivors()).toEqual([]);
});

test('in a process group too, leftovers are counted and killed at the end', async () => {
  await using b = await bench();
  await b.launch(b.order('(setsid sleep $TAG &); sleep $TAG & exit 5', { isolation: 'process-group' }));
  expect(await b.end()).toMatchObject({ exitCode: 5, leftover: 2 });
  expect(b.survivors()).toEqual([]);
});

test('in a process group, kill -9 of the keeper ends the group at once and the rest with the next question', async () => {
  await using b = await bench();
  await b.launch(b.order('(setsid sleep $TAG &); exec sleep $TAG', { isolation: 'process-group' }));
  const leads = (pid: number) => processTable().get(pid)?.group === pid;
  await until(() => b.survivors().length === 2 && b.survivors().some(leads));
  process.kill(await b.client.pid(), 'SIGKILL');
  await until(() => b.survivors().length === 1);
  const next = await b.connect();
  expect(await next.status(b.ref)).toEqual({ state: 'crashed' });
  await until(() => b.survivors().length === 0);
});

test('an init that somebody kills takes its own run along and no other', async () => {
  await using b = await bench();
  const other = { ...b.ref, runId: `${b.ref.runId}-b` };
  mkdirSync(b.home.run(other.taskId, other.runId).dir);
  await b.launch({ ...b.order('exec sleep $TAG'), ...other });
  const pid = await b.launch(b.order('exec sleep $TAG'));
  process.kill(pid, 'SIGKILL');
  expect(await b.end()).toMatchObject({ exitCode: null, signal: 'SIGKILL', stopped: null });
  expect(await b.client.status(other)).toMatchObject({ state: 'live' });
  expect(b.survivors()).toHaveLength(1);
});

test('a line that is no request ends that connection only', async () => {
  await using b = await bench();
  const socket = connect(b.home.keeperSocket);
  socket.on('error', () => {}).write('what?\n');
  await new Promise((resolve) => socket.once('close', resolve).resume());
  expect(await b.client.list()).toEqual([]);
});
