import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { connectKeeper } from '../../src/adapters/keeper/client.ts';
import { Keeper } from '../../src/adapters/keeper/keeper.ts';
import { PROTOCOL } from '../../src/adapters/keeper/protocol.ts';
import { bootSeconds } from '../../src/adapters/program/process.ts';
import { readSegments, segmentStarts } from '../../src/adapters/state/log-segments.ts';
import { homeLayout } from '../../src/domain/names.ts';
import { until } from '../helpers/until.ts';
import { bench, PATIENT_LADDER, peakMb, SHORT_LADDER } from './keeper-bench.ts';

test('reports the exit code, the streams and their hashes, and gives stdin followed by its end', async () => {
  await using b = await bench();
  const answer = await b.client.launch(b.order('cat; echo err >/dev/stderr; exit 3', { stdin: 'hello' }));
  expect(answer).toMatchObject({ ok: true, fresh: true });
  const exit = await b.end();
  expect(exit).toMatchObject({ exitCode: 3, signal: null, stopped: null, leftover: 0, isolation: 'namespace' });
  expect(exit.stdout).toEqual({ bytes: 5, sha256: createHash('sha256').update('hello').digest('hex') });
  expect([b.output(), b.output('stderr')]).toEqual(['hello', 'err\n']);
  expect(JSON.parse(readFileSync(b.run.exit, 'utf8'))).toEqual(exit);
  expect(exit).not.toHaveProperty('unclean');
});

test('the agent has only its own descriptors, its own environment and an empty stdin', async () => {
  await using b = await bench();
  await b.launch(
    b.order('for f in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && echo open $f; done; cat /dev/stdin; env'),
  );
  await b.end();
  const env = b.output().trim().split('\n').toSorted();
  expect(env).toEqual([
    `FLEET_RUN=${b.ref.runId}`,
    `HOME=${b.run.agentHome}`,
    expect.any(String),
    `PWD=${b.run.tree}`,
    `TAG=${b.tag}`,
  ] as string[]);
});

test('a program that is not there is 127, a signal is its name, a shell builtin is no program', async () => {
  await using b = await bench();
  await b.launch(b.order('', { argv: ['nosuchprogram'] }));
  expect(await b.end()).toMatchObject({ exitCode: 127, signal: null });
  const [second, third] = [
    { ...b.ref, runId: '2-abc' },
    { ...b.ref, runId: '3-abc' },
  ];
  for (const { taskId, runId } of [second, third]) mkdirSync(b.home.run(taskId, runId).dir);
  await b.client.launch({ ...b.order('kill -SEGV $$'), ...second });
  expect(await b.client.wait(second)).toMatchObject({ exit: { exitCode: null, signal: 'SIGSEGV' } });
  await b.client.launch({ ...b.order(''), argv: ['exit', '0'], ...third });
  expect(await b.client.wait(third)).toMatchObject({ exit: { exitCode: 127 } });
});

test('what cannot start says why, leaves nothing and may be tried again', async () => {
  await using b = await bench();
  const answer = await b.client.launch(b.order('true', { cwd: `${b.run.tree}/missing` }));
  expect(answer).toMatchObject({ ok: false, why: 'cannot-start', message: expect.stringContaining('missing') });
  expect(await b.client.status(b.ref)).toEqual({ state: 'unknown' });
  expect(await b.client.launch(b.order('true'))).toMatchObject({ ok: true });
  expect(await b.end()).toMatchObject({ exitCode: 0 });
});

test('daemons that the agent leaves are counted and dead when the run has ended', async () => {
  await using b = await bench();
  await b.launch(b.order('setsid sleep $TAG & (sleep $TAG &) ; nohup sleep $TAG & exit 0'));
  expect(await b.end()).toMatchObject({ exitCode: 0, leftover: 3 });
  expect(b.survivors()).toEqual([]);
});

test('a stop goes by INT, TERM and KILL, the first reason wins, and nothing survives', async () => {
  await using b = await bench();
  const script = `for s in INT TERM; do trap "echo $s" $s; done; setsid sh -c 'trap "" INT TERM; sleep $TAG' & (sleep $TAG &)
    echo up; while :; do sleep $TAG & wait $!; done`;
  await b.launch(b.order(script));
  await until(() => existsSync(b.logs) && b.output().includes('up'));
  expect(await b.client.stop({ ...b.ref, reason: 'stalled' })).toEqual({ stopping: true });
  await b.client.stop({ ...b.ref, reason: 'cancelled' });
  expect(await b.end()).toMatchObject({ exitCode: null, signal: 'SIGKILL', stopped: 'stalled' });
  expect(b.output()).toBe('up\nINT\nTERM\n');
  expect(b.survivors()).toEqual([]);
  expect(await b.client.stop({ ...b.ref, reason: 'killed' })).toEqual({ stopping: false });
});

test('an agent that obeys INT ends with its own status', async () => {
  await using b = await bench({ ladder: PATIENT_LADDER });
  await b.launch(b.order(`trap 'exit 7' INT; echo up; while :; do sleep $TAG & wait $!; done`));
  await until(() => existsSync(b.logs) && b.output().includes('up'));
  await b.client.stop({ ...b.ref, reason: 'cancelled' });
  expect(await b.end()).toMatchObject({ exitCode: 7, signal: null, stopped: 'cancelled' });
});

test('a run is launched once: by this keeper, by two at a time, and by the next keeper', async () => {
  await using b = await bench();
  const other = await b.connect();
  const answers = await Promise.all(
    [b.client, other].map((client) => client.launch(b.order('echo ran; exec sleep $TAG'))),
  );
  expect(answers.filter((answer) => answer.ok && answer.fresh)).toHaveLength(1);
  const pid = answers.map((answer) => answer.ok && answer.pid)[0];
  expect(await b.client.launch(b.order('echo ran'))).toEqual({ ok: true, fresh: false, pid });
  await until(() => existsSync(b.logs) && b.output());
  process.kill(await b.client.pid(), 'SIGKILL');
  await until(() => b.survivors().length === 0);
  const next = await b.connect();
  expect(await next.launch(b.order('echo ran'))).toMatchObject({ ok: false, why: 'already-launched' });
  expect(await next.wait(b.ref)).toEqual({ state: 'crashed' });
  expect(b.output()).toBe('ran\n');
});

test('kill -9 of the keeper takes every agent with it, and a pending wait says so', async () => {
  await using b = await bench();
  await b.launch(b.order(`setsid sh -c 'setsid sleep $TAG & sleep $TAG' & (sleep $TAG &); exec sleep $TAG`));
  await until(() => b.survivors().length >= 4);
  const waiting = b.client.wait(b.ref).catch((error: Error) => error.name);
  process.kill(await b.client.pid(), 'SIGKILL');
  expect(await waiting).toBe('KeeperLost');
  await until(() => b.survivors().length === 0);
  await b.connect();
});

test('what the server was asked about too long ago is not launched', async () => {
  await using b = await bench({ selfKillMs: 2_000 });
  const stale = b.order('exec sleep $TAG', { askedAtBootSeconds: bootSeconds() - 3 });
  expect(await b.client.launch(stale)).toMatchObject({ ok: false, why: 'too-late' });
  expect(existsSync(b.run.launched)).toBe(false);
  expect(await b.client.launch({ ...stale, askedAtBootSeconds: bootSeconds() })).toMatchObject({ ok: true });
  await b.client.stop({ ...b.ref, reason: 'killed' });
  await until(() => existsSync(b.run.exit));
});

test('the deadline holds without a worker, and the keeper ends when nothing needs it', async () => {
  await using b = await bench();
  await b.launch(b.order('exec sleep $TAG', { deadlineMs: 500 }));
  b.client.close();
  await until(() => existsSync(b.run.exit));
  expect(JSON.parse(readFileSync(b.run.exit, 'utf8'))).toMatchObject({ stopped: 'timed-out' });
  await until(() => !existsSync(b.home.keeperSocket));
});

test('without contact for the self-kill time every run is stopped by the fence', async () => {
  await using b = await bench({ selfKillMs: 1_500, ladder: PATIENT_LADDER });
  await b.launch(b.order(`trap 'echo INT' INT; echo up; while :; do sleep $TAG & wait $!; done`));
  expect(await b.end()).toMatchObject({ stopped: 'host-lost', signal: 'SIGTERM' });
  expect(b.output()).toBe('up\n');
  expect(b.survivors()).toEqual([]);
});

test('contact counts from its time of sending, and keeps the agents alive', async () => {
  await using b = await bench({ selfKillMs: 2_500, ladder: PATIENT_LADDER });
  await b.launch(b.order('exec sleep $TAG'));
  const start = bootSeconds();
  await until(async () => {
    await b.client.contact({ sentAtBootSeconds: bootSeconds() });
    return bootSeconds() - start > 4.5;
  });
  expect(await b.client.status(b.ref)).toMatchObject({ state: 'live', stopped: null });
  await b.client.stop({ ...b.ref, reason: 'superseded' });
  expect(await b.end()).toMatchObject({ stopped: 'superseded', signal: 'SIGTERM' });
});

test('contact after the self-kill time is too late, also where a sleeping machine hears of it before its next tick', async () => {
  await using b = await bench();
  const { handlers } = new Keeper(b.home, () => {});
  await handlers.hello({ protocol: PROTOCOL, selfKillMs: 50, ladder: SHORT_LADDER });
  await handlers.launch(b.order('exec sleep $TAG'));
  const launchedAt = bootSeconds();
  await until(() => bootSeconds() - launchedAt > 0.1);
  await handlers.contact({ sentAtBootSeconds: bootSeconds() });
  await handlers.stop({ ...b.ref, reason: 'superseded' });
  expect(await handlers.wait(b.ref)).toMatchObject({ exit: { stopped: 'host-lost' } });
});

test.each([
  ['100 MB', 'head -c 100000000 /dev/zero | tr "\\0" "\\n"', 100_000_000, '\n'],
  ['one line of 400 MB', 'head -c 400000000 /dev/zero | tr "\\0" x', 400_000_000, 'x'],
])('%s of output is counted and hashed whole, kept in part, and takes no memory', async (_, script, bytes, char) => {
  await using b = await bench();
  const before = peakMb(await b.client.pid());
  await b.launch(b.order(script));
  const exit = await b.end();
  const hash = createHash('sha256');
  for (let left = bytes; left > 0; left -= 1e6) hash.update(char.repeat(1e6));
  expect(exit.stdout).toEqual({ bytes, sha256: hash.digest('hex') });
  expect(peakMb(await b.client.pid()) - before).toBeLessThan(50);
  const starts = await segmentStarts(b.logs, 'stdout');
  expect(starts).toHaveLength(5);
  expect(starts[0]).toBe(0);
  const last = await readSegments({ dir: b.logs, stream: 'stdout' }, bytes - 10, 100);
  expect(last).toEqual({ bytes: Buffer.from(char.repeat(10)), next: bytes, gap: 0 });
});

test('a status tells CPU time of the whole tree and the bytes so far', async () => {
  await using b = await bench();
  await b.launch(b.order(`echo up; setsid sh -c 'while :; do :; done' $TAG & exec sleep $TAG`));
  const status = await until(async () => {
    const now = await b.client.status(b.ref);
    return now.state === 'live' && now.cpuMs > 200 ? now : undefined;
  });
  expect(status).toMatchObject({ stdoutBytes: 3, stderrBytes: 0, lastOutputAt: expect.any(String), stopped: null });
  expect(await b.client.list()).toMatchObject([{ ...b.ref, live: true }]);
  await b.client.stop({ ...b.ref, reason: 'host-lost' });
  await b.end();
  await b.client.forget(b.ref);
  expect(await b.client.list()).toEqual([]);
  expect(await b.client.status(b.ref)).toMatchObject({ state: 'ended' });
});

test('a home with a path too long for a socket is refused in one sentence', async () => {
  const home = homeLayout(`/tmp/${'x'.repeat(100)}`);
  await expect(connectKeeper({ home, selfKillMs: 1_000 })).rejects.toThrow(/socket is longer than \d+ bytes/);
});
