import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { execa } from 'execa';
import { connectClient } from '../src/adapters/temporal/connection.ts';
import { freePorts } from '../src/adapters/temporal/free-ports.ts';
import { listens } from '../src/adapters/temporal/address.ts';
import { tempDir } from './helpers/temp.ts';
import { until } from './helpers/until.ts';

const script = fileURLToPath(new URL('../temporal-dev.sh', import.meta.url));
const run = (args: string[], env: Record<string, string>) =>
  execa(script, args, { env, extendEnv: false, reject: false });

/** A program that prints its arguments, in place of temporal. */
async function plant(folder: string, server = '1.0.0'): Promise<string> {
  await mkdir(folder, { recursive: true });
  const version = `[ "$1" = --version ] && echo "temporal version 1 (Server ${server}, UI 2)" && exit`;
  await writeFile(`${folder}/temporal`, `#!/bin/sh\n${version}\nprintf "%s\\n" "$@"\n`);
  await chmod(`${folder}/temporal`, 0o755);
  return `${folder}/temporal`;
}

test('finds the program on PATH, in the folder of Go, in $FLEET_HOME/bin, in this order', async () => {
  await using temp = await tempDir();
  const env = { PATH: `${temp.path}/path:/usr/bin:/bin`, HOME: `${temp.path}/user`, FLEET_HOME: `${temp.path}/fleet` };
  for (const folder of ['fleet/bin', 'user/go/bin', 'path']) {
    const program = await plant(`${temp.path}/${folder}`);
    expect(await run(['--install-only'], env)).toMatchObject({ stdout: program, stderr: '', exitCode: 0 });
  }
});

test('hands over the file, the pragmas, the settings and everything behind --', async () => {
  await using temp = await tempDir();
  await plant(`${temp.path}/bin`);
  const env = { PATH: '/usr/bin:/bin', FLEET_HOME: temp.path };
  const { stdout } = await run(['--port', '17555', '--ip', '127.0.0.1', '--', '--metrics-port', '9'], env);
  const args = stdout.split('\n').join(' ');
  expect(args).toMatch(/^server start-dev .*--metrics-port 9$/);
  expect(args).toContain(`--ip 127.0.0.1 --port 17555 --log-level error --db-filename ${temp.path}/temporal.db`);
  for (const part of [
    '--ui-port 18555',
    'journal_mode=wal',
    'synchronous=2',
    'matching.useNewMatcher=true',
    'matching.enableFairness=true',
  ]) {
    expect(args).toContain(part);
  }
  expect((await run(['--port', '17555', '--headless'], env)).stdout).not.toContain('--ui-port');
});

test('data is opened only by the version that wrote it: the first such program is taken, and none is refused', async () => {
  await using temp = await tempDir();
  const env = { PATH: `${temp.path}/path:/usr/bin:/bin`, FLEET_HOME: temp.path, HOME: `${temp.path}/user` };
  const newer = await plant(`${temp.path}/path`, '2.0.0');
  const port = ['--port', '17556', '--headless'];
  expect(await run(port, env)).toMatchObject({ exitCode: 0 });
  expect(await readFile(`${temp.path}/temporal.db.version`, 'utf8')).toBe('2.0.0\n');
  // Nothing was written yet: any program may begin.
  await plant(`${temp.path}/path`, '1.0.0');
  expect(await run(port, env)).toMatchObject({ exitCode: 0 });

  await writeFile(`${temp.path}/temporal.db`, 'data');
  await plant(`${temp.path}/path`, '2.0.0');
  for (const args of [port, ['--install-only']]) {
    const { exitCode, stdout, stderr } = await run(args, env);
    expect([exitCode, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining(`server of ${newer} is 2.0.0, which may`),
    ]);
  }
  const older = await plant(`${temp.path}/bin`, '1.0.0');
  expect(await run(['--install-only'], env)).toMatchObject({ exitCode: 0, stdout: older });
});

test.each([
  [['--port', 'abc'], "--port must be a port, 1 to 65535, not 'abc'"],
  [['--port', '70000'], "--port must be a port, 1 to 65535, not '70000'"],
  [['--port'], '--port needs a value'],
  [['--port', '65000'], '--ui-port must be given: 65000 + 1000 is no port'],
  [['--prot', '1'], '--prot is not a known flag: see --help, and put flags of the server itself behind --'],
])('%j is refused in one sentence', async (args, sentence) => {
  await using temp = await tempDir();
  const result = await run(args, { PATH: '/usr/bin:/bin', FLEET_HOME: temp.path });
  expect(result).toMatchObject({ exitCode: 2, stdout: '', stderr: `temporal-dev.sh: ${sentence}` });
});

test('--help has an example', async () => {
  const { stdout, exitCode } = await run(['--help'], { PATH: '/usr/bin:/bin' });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('Example:')]);
});

const OWN = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal, scopeid }) => !internal && !scopeid)
  .map(({ address }) => address);

test.each(['127.0.0.2', '0.0.0.0', ...OWN.slice(0, 1)])(
  'on %s it starts what it takes, also on loopback, and nothing is left of it',
  async (ip) => {
    await using temp = await tempDir();
    const [port] = await freePorts(1);
    const server = execa(script, ['--ip', ip, '--port', String(port), '--headless'], {
      env: { FLEET_HOME: temp.path },
      reject: false,
    });
    const reached = [ip === '0.0.0.0' ? '127.0.0.3' : ip, '127.0.0.1'].map((host) => `${host}:${port}`);
    try {
      for (const address of reached) {
        const { client, connection } = await until(() =>
          connectClient({ FLEET_HOME: temp.path, TEMPORAL_ADDRESS: address }).catch(() => undefined),
        );
        const workflowId = `at-${address.replaceAll(':', '-')}`;
        await until(() =>
          client.workflow.start('x', { taskQueue: 'q', workflowId }).catch((error: unknown) => {
            if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
            return undefined;
          }),
        );
        await connection.close();
      }
    } finally {
      server.kill('SIGKILL');
      await server;
    }
    await until(async () => !(await Promise.all(reached.map((address) => listens(address)))).includes(true));
  },
);

test('an address that is not of this machine is refused in one sentence', async () => {
  await using temp = await tempDir();
  await plant(`${temp.path}/bin`);
  const env = { PATH: process.env['PATH'] ?? '', FLEET_HOME: temp.path };
  const { exitCode, stdout, stderr } = await run(['--ip', '203.0.113.7', '--port', '17557'], env);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^temporal-dev\.sh: --ip 203\.0\.113\.7 cannot be listened on [^\n]*$/);
});
