import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { stringify } from 'yaml';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { agents } from '../helpers/live-agents.ts';
import { noMachines, startMachine } from '../helpers/network.ts';
import { noSystemd, startSystemd, type UserSystemd } from '../helpers/systemd.ts';
import { tempDir } from '../helpers/temp.ts';
import { until } from '../helpers/until.ts';
import { go } from './machines.ts';

/** Another machine, a network namespace with a home and a real systemd of its own, joins by the line of `fleet invite`. */

const missing = noSystemd() ?? noMachines();
const onSystemd = (name: string, run: () => Promise<void>): void =>
  missing ? test.skip(`${name} (skipped: ${missing})`, run) : test(name, run, 600_000);

const PACKAGE = new URL('../..', import.meta.url).pathname;
const MAIN = join(PACKAGE, 'dist/cli/main.js');

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

/** That machine has a registry; the namespace has what npm keeps of it. */
async function npmCache(): Promise<Record<string, string>> {
  const { stdout: cache } = await execa('npm', ['config', 'get', 'cache']);
  await using filled = await tempDir();
  for (const file of ['package.json', 'package-lock.json'])
    await writeFile(join(filled.path, file), await readFile(join(PACKAGE, file)));
  await execa('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit'], { cwd: filled.path });
  return { npm_config_cache: cache, npm_config_offline: 'true' };
}

/** Runs a command there, as its user would. */
const on = (
  sd: UserSystemd,
  argv: readonly string[],
  options: { input?: string; env?: Record<string, string> } = {},
) => {
  const [file = '', ...args] = [...sd.prefix, ...argv];
  const { input, env = {} } = options;
  return execa(file, args, {
    ...{ env: { ...sd.env, ...env } },
    ...{ extendEnv: false, reject: false, ...(input === undefined ? { stdin: 'ignore' as const } : { input }) },
  });
};

const shown = async (sd: UserSystemd, property: string): Promise<string> =>
  (await sd.systemctl('show', '--value', `--property=${property}`, 'fleet-worker.service')).stdout;

onSystemd('a machine joins by one line, outlives its worker and a cut of its power, and leaves no trace', async () => {
  await using temp = await tempDir();
  await using machine = await startMachine(fleet.server.address);
  await using sd = await startSystemd(temp.path, machine.prefix);
  const npm = await npmCache();
  const home = `${sd.home}/.fleet`;
  const journal = `${temp.path}/journal`;
  await mkdir(home);
  const lease = { heartbeat: '3s', grace: '45s', selfKill: '30s' };
  await writeFile(
    `${home}/config.yaml`,
    stringify({ lease, coders: { beat: { ...agent('beat.sh'), env: ['JOURNAL'] } } }),
  );
  await writeFile(`${temp.path}/setup.sh`, `export JOURNAL=${journal}\n`);

  const script = `${fleet.root}/client/invitations/joined.sh`;
  const inviting = fleet.cli([
    ...['invite', 'joined', '--address', machine.address, '--queue', 'join'],
    ...['--wait', '--timeout', '5m'],
  ]);
  await until(() => existsSync(script));
  expect((await stat(script)).mode & 0o077).toBe(0);
  // As `ssh … cat joined.sh | sh` does.
  const joining = await on(sd, ['sh', '-s', '--', '--slots', '1', '--env-setup', `${temp.path}/setup.sh`], {
    input: await readFile(script, 'utf8'),
    env: npm,
  });
  expect(joining.stdout).toContain('fleet-worker is installed: worker joined');
  expect(joining.stdout).toMatch(/^ok +server +answers/m);
  expect(joining.exitCode).toBe(0);
  const invited = await inviting;
  expect(invited).toMatchObject({ code: 0 });
  expect(invited.stdout).toMatch(
    /^ssh \S+ cat \S+\/invitations\/joined\.sh \| sh\nworker joined is attached on machine /,
  );
  expect(invited.stderr).toContain(`whoever reaches ${machine.address} can have agents run`);

  // Killed, it is started again, and adopts its agent.
  const repo = await fleet.repo('joined-repo');
  const task = { objective: 'x', repo, coder: 'beat', queue: 'join' };
  const id = await fleet.fleet.enqueue(task);
  const live = await fleet.running(id);
  const pid = await shown(sd, 'MainPID');
  await on(sd, ['kill', '-9', pid]);
  await until(async () => !['0', pid].includes(await shown(sd, 'MainPID')));
  expect(await shown(sd, 'NRestarts')).toBe('1');
  const attached = async (): Promise<string | undefined> =>
    (await fleet.fleet.workers()).find((one) => one.name === 'joined' && fleet.fleet.isAttached(one))?.since;
  const since = await until(attached);
  expect((await agents(id)).map((one) => one.pid)).toEqual([live.pid]);
  await go(live);
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{ runId: live.runId }] });

  // The power is cut in the middle of a run; with it the worker comes back.
  const second = await fleet.fleet.enqueue(task);
  await fleet.running(second);
  await sd.reboot();
  await until(async () => ![undefined, since].includes(await attached()));
  await go(await fleet.running(second, 2));
  expect(await fleet.settled(second)).toMatchObject({ state: 'done' });

  // Taken away, it lets its run finish.
  const main = `${home}/packages/${(await readdir(`${home}/packages`))[0]}/bin/fleet`;
  const third = await fleet.fleet.enqueue(task);
  const last = await fleet.running(third);
  const status = await on(sd, [main, 'worker', 'status', '--json']);
  expect(JSON.parse(status.stdout)).toMatchObject([{ unit: 'fleet-worker', state: 'active', lingers: false }]);
  const leaving = on(sd, [main, 'worker', 'uninstall']);
  await until(async () => (await shown(sd, 'ActiveState')) === 'deactivating');
  await go(last);
  expect(await leaving).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('ends when its runs are finished'),
  });
  expect(await fleet.settled(third)).toMatchObject({ state: 'done', runs: [{ runId: last.runId }] });
  await until(async () => (await attached()) === undefined);
  expect(await shown(sd, 'LoadState')).toBe('not-found');
  expect(existsSync(`${home}/service`)).toBe(false);
  expect(await readdir(`${sd.home}/.config/systemd/user`)).toEqual([]);
  await rm(home, { recursive: true });
  expect((await on(sd, ['find', sd.home, '-type', 'f', '-not', '-path', '*/.npm/*'])).stdout).toBe('');
});

onSystemd('what stands in the way of a service is said in one sentence', async () => {
  await using temp = await tempDir();
  await using sd = await startSystemd(temp.path);
  const worker = (...args: string[]) =>
    on(sd, [MAIN, 'worker', ...args], { env: { TEMPORAL_ADDRESS: fleet.server.address } });
  const units = `${sd.home}/.config/systemd/user`;
  const says = async (args: string[], code: number, message: string): Promise<void> => {
    const { stderr, exitCode } = await worker(...args);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(code);
  };
  await says(['uninstall'], 2, 'fleet: fleet-worker is not installed here');
  await says(['install', '--env-setup', 'nowhere.sh'], 2, 'fleet: --env-setup nowhere.sh does not exist');
  await says(['install', '--name', '../a'], 2, 'fleet: worker.name must be letters, digits');
  await says(['install', '--at', '22:00'], 2, 'fleet: --at needs --print cron');
  expect((await worker('status')).exitCode).toBe(1);
  expect(existsSync(units)).toBe(false);

  // A unit of somebody else.
  await mkdir(units, { recursive: true });
  await writeFile(`${units}/fleet-worker.service`, '[Service]\nExecStart=/bin/true\n');
  await sd.systemctl('daemon-reload');
  await says(['install'], 2, 'fleet: the unit fleet-worker is somebody else');
  await says(['uninstall'], 2, 'fleet-worker is not installed here');
  expect(await readFile(`${units}/fleet-worker.service`, 'utf8')).toContain('/bin/true');
  await rm(`${units}/fleet-worker.service`);
  await sd.systemctl('daemon-reload');

  // Twice is an update; nothing new, nothing is restarted.
  const config = `${sd.home}/.fleet/config.yaml`;
  await mkdir(`${sd.home}/.fleet`);
  await writeFile(config, stringify({ worker: { queues: ['alone'] }, coders: { beat: agent('beat.sh') } }));
  const first = await worker('install');
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('fleet-worker is installed') });
  expect(first.stderr).toContain('lingering is off');
  const pid = await shown(sd, 'MainPID');
  expect(await worker('install')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('fleet-worker is updated'),
  });
  expect(await shown(sd, 'MainPID')).toBe(pid);
  expect((await worker('install', '--slots', '3')).stderr).toContain('ends first');
  await until(async () => !['0', pid].includes(await shown(sd, 'MainPID')));
  await says(
    ['install', '--name', 'other'],
    2,
    `is the home of the service fleet-worker: give this one a home of its own`,
  );

  // With a configuration that is wrong it is not started again and again.
  await writeFile(config, 'worker: { colour: red }\n');
  await on(sd, ['kill', '-9', await shown(sd, 'MainPID')]);
  await until(async () => (await shown(sd, 'ActiveState')) === 'failed');
  await says(['status'], 1, 'fleet-worker: it failed with exit code 2');
  await says(['install'], 2, 'worker.colour is not a known field');

  // A home that was moved is not made anew.
  await execa('mv', [`${sd.home}/.fleet`, `${sd.home}/moved`]);
  expect((await sd.systemctl('start', 'fleet-worker.service')).exitCode).not.toBe(0);
  expect(existsSync(`${sd.home}/.fleet`)).toBe(false);
  await says(
    ['status'],
    1,
    'is gone, as where its home was moved: fleet worker install again, or fleet worker uninstall',
  );
  expect(await worker('uninstall')).toMatchObject({ exitCode: 0 });
  expect(await readdir(units)).toEqual([]);
});

test('without a systemd of this user nothing is installed, and it is said what else there is', async () => {
  await using temp = await tempDir();
  const env = { HOME: temp.path, FLEET_HOME: `${temp.path}/.fleet`, PATH: temp.path };
  const install = await fleet.cli(['worker', 'install'], { env });
  expect(install).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('fleet: no systemd of this user answers here'),
  });
  expect(install.stderr).toContain('fleet worker install --print cron prints a line for cron');
  expect(await readdir(temp.path)).toEqual([]);
});

test('a server that only this machine reaches is no invitation', async () => {
  const alone = await fleet.cli(['invite', 'lonely']);
  expect(alone).toMatchObject({ code: 2, stdout: '' });
  expect(alone.stderr).toMatch(/can be reached from this machine alone.*\n +\S*temporal-dev\.sh --port \d+ --ip /);
  expect(await fleet.cli(['invite', '../x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('name must be'),
  });
  expect(existsSync(`${fleet.root}/client/invitations/lonely.sh`)).toBe(false);
});

test('an invitation carries keys in its file and prints none', async () => {
  const env = { TEMPORAL_GRPC_META_X_TEAM: 'sesame' };
  const invited = await fleet.cli(['invite', 'keyed', '--address', 'fleet.example.com:7233', '--json'], { env });
  expect(invited.code).toBe(0);
  expect(invited.stdout + invited.stderr).not.toContain('sesame');
  const { file, secrets } = JSON.parse(invited.stdout) as { file: string; secrets: string[] };
  expect(secrets).toEqual(['headers for the server']);
  const blocks = (await readFile(file, 'utf8')).split("<<'END'\n").map((block) => block.split('\nEND')[0]!);
  const profile = Buffer.from(blocks.at(-1)!, 'base64').toString('utf8');
  expect(profile).toContain('fleet.example.com:7233');
  expect(profile).toContain('sesame');
});
