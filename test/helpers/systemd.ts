import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import { until } from './until.ts';

/** A real systemd of one user, in namespaces of its own: a machine, as far as services know. */
export interface UserSystemd extends AsyncDisposable {
  /** Before a command that is to run there. */
  prefix: readonly string[];
  /** HOME and XDG_RUNTIME_DIR there. */
  env: Record<string, string>;
  home: string;
  systemctl(...args: string[]): Promise<{ stdout: string; exitCode?: number | undefined }>;
  /** Ends every process there at once, as a cut of the power; and starts it again. */
  reboot(): Promise<void>;
}

const SYSTEMD = '/usr/lib/systemd/systemd';

const cgroups = (): string | undefined =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type]) => type === 'cgroup2')?.[1];

/** Why there can be none here, as one sentence; undefined where there can. */
export function noSystemd(): string | undefined {
  if (!existsSync(SYSTEMD)) return 'needs systemd (package systemd)';
  if (process.getuid?.() !== 0) return 'needs root';
  return cgroups() === undefined ? 'needs cgroups of version 2' : undefined;
}

let count = 0;

/** @param root an empty folder @param on what it runs in, e.g. a network namespace */
export async function startSystemd(root: string, on: readonly string[] = []): Promise<UserSystemd> {
  const [home, runtime] = [`${root}/home`, `${root}/rt`];
  await mkdir(home, { recursive: true });
  await mkdir(runtime, { recursive: true, mode: 0o700 });
  count += 1;
  const group = `${cgroups()}/test-systemd-${process.pid}-${count}`;
  await mkdir(group);
  const env = { HOME: home, XDG_RUNTIME_DIR: runtime, PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' };
  // Its cgroup is the root of what it sees, and /run, where real managers are found, is empty.
  const inside = `mount -t cgroup2 none /sys/fs/cgroup && mount -t tmpfs none /run && mkdir -p /run/systemd/system
${SYSTEMD} --user --log-level=warning & wait`;
  let pid = 0;
  let over: Promise<unknown> = Promise.resolve();
  const start = async (): Promise<void> => {
    const argv = [
      ...on,
      'sh',
      '-c',
      `echo $$ > ${group}/cgroup.procs && exec unshare -m -C -p -f --kill-child --mount-proc sh -c '${inside}'`,
    ];
    const child = spawn(argv[0]!, argv.slice(1), { env, stdio: 'ignore' });
    over = new Promise((resolve) => child.once('exit', resolve));
    // The namespaces are those of the first process in them.
    pid = await until(async () => {
      const text = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
      return Number(text.trim().split(' ')[0]) || undefined;
    });
    await until(async () => (await run('is-system-running')).stdout === 'running');
  };
  const prefix = (): string[] => ['nsenter', '-t', String(pid), '-m', '-C', '-p', '-n', `--wdns=${home}`];
  const run = (...args: string[]) => {
    const [file = '', ...rest] = [...prefix(), 'systemctl', '--user', ...args];
    return execa(file, rest, { env, extendEnv: false, reject: false });
  };
  const end = async (): Promise<void> => {
    await writeFile(`${group}/cgroup.kill`, '1');
    await over;
    await until(async () => !(await readFile(`${group}/cgroup.events`, 'utf8')).includes('populated 1'));
  };
  await start();
  return {
    get prefix() {
      return prefix();
    },
    ...{ env, home, systemctl: run },
    reboot: async () => {
      await end();
      await start();
    },
    [Symbol.asyncDispose]: async () => {
      await end();
      await execa('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', '+'], { reject: false });
      if (existsSync(group)) rmdirSync(group);
    },
  };
}
