import { createServer } from 'node:net';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { ownDevServer, startDevServer } from '../../../src/adapters/temporal/dev-server.ts';
import { identify } from '../../../src/adapters/program/process.ts';
import { tempDir } from '../../helpers/temp.ts';
import { freePorts } from '../../../src/adapters/temporal/free-ports.ts';

const alive = (pid: number): boolean => identify(pid) !== undefined;

test('starts with what the fleet needs, is recognised as its own, keeps its data, and is dead after stop', async () => {
  await using temp = await tempDir();
  const [port, uiPort] = await freePorts(2);
  const options = { home: temp.path, port: port!, uiPort: uiPort! };
  const server = await startDevServer(options);
  try {
    expect(server).toMatchObject({ address: `127.0.0.1:${port}`, uiAddress: `http://127.0.0.1:${uiPort}` });
    expect((await fetch(server.uiAddress!)).status).toBe(200);
    // Ctrl-C in the terminal goes to the caller's process group: the server has its own, and its own session.
    const stat = (await readFile(`/proc/${server.pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
    expect([stat[2], stat[3]]).toEqual([String(server.pid), String(server.pid)]);
    expect(await ownDevServer(temp.path)).toMatchObject({ address: server.address, pid: server.pid });
    expect(await startDevServer(options)).toMatchObject({ pid: server.pid });
    const connection = await Connection.connect({ address: server.address });
    const { workers } = await connection.workflowService.listWorkers({ namespace: 'default' });
    expect(workers).toBeInstanceOf(Array);
    await connection.close();
  } finally {
    await server.stop();
  }
  expect(alive(server.pid)).toBe(false);
  expect(await ownDevServer(temp.path)).toBeUndefined();
  expect((await readFile(`${temp.path}/temporal.db`)).length).toBeGreaterThan(0);
});

test('a later process can stop it, and a recycled pid is not taken for it', async () => {
  await using temp = await tempDir();
  const [port] = await freePorts(1);
  const server = await startDevServer({ home: temp.path, port: port!, headless: true });
  const own = (await ownDevServer(temp.path))!;
  expect(own.uiAddress).toBeNull();
  await own.stop();
  expect(alive(server.pid)).toBe(false);
  await server.stop();
  const stale = { identity: { ...identify(process.pid)!, startTime: '1' }, address: 'x:1', uiAddress: null };
  await writeFile(`${temp.path}/temporal.json`, JSON.stringify(stale));
  expect(await ownDevServer(temp.path)).toBeUndefined();
  await writeFile(`${temp.path}/temporal.json`, '{ half');
  expect(await ownDevServer(temp.path)).toBeUndefined();
});

test('a port in use: one sentence that names it, exit code 2, nothing left running or recorded', async () => {
  await using temp = await tempDir();
  const [port, uiPort] = await freePorts(2);
  for (const [taken, sentence] of [
    [
      port,
      `port ${port} is in use: if that is a Temporal server, wait until it answers; else start one elsewhere with temporal-dev.sh --port <port> and set TEMPORAL_ADDRESS`,
    ],
    [
      uiPort,
      `Temporal's dev server did not start: port ${uiPort} is in use: choose another one with --ui-port, or use the server that listens there`,
    ],
  ]) {
    const other = createServer((socket) => socket.destroy()).listen(Number(taken), '127.0.0.1');
    await once(other, 'listening');
    const start = startDevServer({ home: temp.path, port: port!, uiPort: uiPort! });
    await expect(start).rejects.toMatchObject({ message: sentence, exitCode: 2 });
    await new Promise((resolve) => other.close(resolve));
    expect(await ownDevServer(temp.path)).toBeUndefined();
    await expect(readFile(`${temp.path}/temporal.json`)).rejects.toThrow('ENOENT');
  }
});

test('no program and no way to get one: one sentence', async () => {
  await using temp = await tempDir();
  const said: string[] = [];
  const env = { PATH: '/usr/bin:/bin', HOME: `${temp.path}/nobody`, https_proxy: 'http://127.0.0.1:1' };
  const start = startDevServer({ home: temp.path, headless: true, env, say: (line) => said.push(line) });
  await expect(start).rejects.toMatchObject({
    message: expect.stringMatching(/^Temporal's program is not on PATH.*neither/),
    exitCode: 1,
  });
  expect(said[0]).toMatch(/^Downloading/);
});

test('a server that gives up as it starts: what it said, not where in its code it was', async () => {
  await using temp = await tempDir();
  const script = `${temp.path}/temporal-dev.sh`;
  const said = 'panic: failed assigning ephemeral port\\n\\ngoroutine 1 [running]:\\nmain.main()\\n\\tmain.go:18 +0x96';
  await writeFile(script, `#!/bin/sh\n[ "$1" = --install-only ] || { printf '${said}\\n'; exit 2; }\n`, {
    mode: 0o755,
  });
  const [port] = await freePorts(1);
  await expect(startDevServer({ home: temp.path, port: port!, headless: true, script })).rejects.toThrow(
    "Temporal's dev server did not start: panic: failed assigning ephemeral port",
  );
});
