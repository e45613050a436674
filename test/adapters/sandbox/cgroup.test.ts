import { expect, test } from '@jest/globals';
import { readHierarchies } from '../../../src/adapters/sandbox/cgroup-parents.ts';
import { sha256 } from '../../../src/adapters/sha256.ts';
import { until } from '../../helpers/until.ts';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { bench } from '../keeper-bench.ts';

const limited = existsSync('/sys/fs/cgroup/pids/cgroup.procs') && process.getuid!() === 0;
const here = limited ? test : test.skip;
if (!limited) console.warn('cgroup.test: skipped where not root with control groups of version 1');

/** As of a home that is gone. */
const NOBODY = 'fleet-000000000000';
const groups = (): string[] =>
  ['pids', 'unified'].flatMap((name) =>
    readdirSync(`/sys/fs/cgroup/${name}`).filter((dir) => dir.startsWith('fleet-')),
  );

test('version 1, version 2 and the hybrid of both are read from the kernel', () => {
  const mount = (id: number, at: string, type: string, options: string, root = '/') =>
    `${id} 1 0:${id} ${root} ${at} rw,nosuid - ${type} ${type} rw,${options}`;
  const hybrid = [
    mount(1, '/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'cpu,cpuacct'),
    mount(2, '/sys/fs/cgroup/pids', 'cgroup', 'pids'),
    mount(3, '/sys/fs/cgroup/unified', 'cgroup2', 'nsdelegate'),
  ].join('\n');
  expect(readHierarchies(hybrid, '8:pids:/a/b\n2:cpu,cpuacct:/\n0::/')).toEqual([
    { version: 1, controllers: ['pids'], mount: '/sys/fs/cgroup/pids', own: '/sys/fs/cgroup/pids/a/b' },
    { version: 2, controllers: [], mount: '/sys/fs/cgroup/unified', own: '/sys/fs/cgroup/unified' },
  ]);
  expect(readHierarchies(mount(1, '/sys/fs/cgroup', 'cgroup2', '', '/docker/1'), '0::/docker/1/x')).toMatchObject([
    { version: 2, own: '/sys/fs/cgroup/x' },
  ]);
});

here('a tree keeps to its limit of processes, and says that it reached it', async () => {
  await using b = await bench();
  await b.launch(
    b.order('i=0; while [ $i -lt 40 ]; do sleep $TAG & i=$((i + 1)); done; echo all', { limits: { processes: 16 } }),
  );
  const exit = await b.end();
  expect(exit).toMatchObject({ exitCode: 2, outOfProcesses: true });
  expect(exit.leftover).toBeGreaterThan(8);
  expect(exit.leftover).toBeLessThan(16);
  expect(b.survivors()).toEqual([]);
  expect(exit).not.toHaveProperty('unlimited');
});

here(
  'a tree that stands at its limit of processes is ended',
  async () => {
    await using b = await bench();
    // Eleven with the init and the shell; the twelfth, a subshell, is refused what it would start.
    const script = 'for i in 1 2 3 4 5 6 7 8 9; do sleep $TAG & done; (sleep $TAG; :) & wait';
    await b.launch(b.order(script, { limits: { processes: 12 } }));
    expect(await b.end()).toMatchObject({ signal: 'SIGKILL', stopped: null, outOfProcesses: true });
    expect(b.survivors()).toEqual([]);
  },
  30_000,
);

here('a tree keeps to its limit of memory: the kernel takes the agent, not the keeper', async () => {
  await using b = await bench();
  const pid = await b.client.pid();
  await b.launch(b.order('head -c 300000000 /dev/zero | tail', { limits: { memoryBytes: 64_000_000 } }));
  const exit = await b.end();
  expect(exit.outOfMemory).toBe(true);
  expect(exit.exitCode).not.toBe(0);
  expect(await b.client.pid()).toBe(pid);
});

here('no process can leave its group, nor lift its limits, even as root', async () => {
  await using b = await bench();
  const script = `
    for m in pids memory unified; do
      echo $$ 2>/dev/null >/sys/fs/cgroup/$m/cgroup.procs && echo left $m
      mount -o remount,bind,rw /sys/fs/cgroup/$m 2>/dev/null && echo writable $m
    done
    unshare --cgroup --mount sh -c 'mount -t cgroup -o pids x /mnt && { cat /mnt/pids.max; echo max >/mnt/pids.max; echo $$ >/mnt/../cgroup.procs; }' 2>/dev/null
    i=0; while [ $i -lt 40 ]; do sleep 0.2 & i=$((i + 1)); done; echo all`;
  await b.launch(b.order(script, { limits: { processes: 16 } }));
  expect(await b.end()).toMatchObject({ exitCode: 2, outOfProcesses: true });
  expect(b.output()).not.toMatch(/left|writable|all/);
});

test('an agent that hides its process table cannot hide what it leaves behind', async () => {
  await using b = await bench();
  await b.launch(b.order('(setsid sleep $TAG &); umount -l /proc; mount -t tmpfs x /proc; exit 0'));
  expect(await b.end()).toMatchObject({ exitCode: 0, leftover: 1 });
  expect(b.survivors()).toEqual([]);
});

here('in a process group, what drops its mark and its session is still of the group, and dies', async () => {
  await using b = await bench();
  const script =
    'env -i setsid sh -c "sleep $TAG & sleep $TAG & : >up; wait" & until [ -e up ]; do sleep 0.05; done; exit 0';
  await b.launch(b.order(script, { isolation: 'process-group' }));
  expect(await b.end()).toMatchObject({ exitCode: 0, leftover: 3 });
  expect(b.survivors()).toEqual([]);
});

here('groups go with their runs, and those of a killed keeper with the next one', async () => {
  await using b = await bench();
  const own = `/sys/fs/cgroup/pids/fleet-${sha256(b.home.root).slice(0, 12)}`;
  const runs = () => readdirSync(own).filter((name) => /^\d+-/.test(name));
  await b.launch(b.order('exec sleep $TAG'));
  expect(runs()).toHaveLength(1);
  await b.client.stop({ ...b.ref, reason: 'killed' });
  await b.end();
  expect(runs()).toEqual([]);
  mkdirSync(`/sys/fs/cgroup/pids/${NOBODY}`, { recursive: true });
  process.kill(await b.client.pid(), 'SIGKILL');
  await until(async () => (await b.connect()) !== undefined);
  expect(groups()).not.toContain(NOBODY);
});
