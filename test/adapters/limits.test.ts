import { execFileSync } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { ResourceLimits } from '../../src/adapters/sandbox/cgroup.ts';
import { limitArgs } from '../../src/adapters/sandbox/limits.ts';
import { containedArgv } from '../../src/adapters/sandbox/sandbox.ts';
import { filterFile } from '../../src/adapters/sandbox/syscalls.ts';
import { builtFile } from '../../src/package.ts';
import { containedBench } from './contained-bench.ts';

const MB = 1024 * 1024;

test.each(['namespace', 'process-group'] as const)('each process has limits of its own: %s', async (isolation) => {
  using b = containedBench();
  const limits = { processes: 50, diskBytes: MB };
  const { said } = await b.run('ulimit -n; ulimit -f; ulimit -p', { isolation, limits });
  const [files, blocks, processes] = said.trim().split('\n');
  expect([files, blocks]).toEqual(['16384', '2048']);
  // A user's other processes count outside of a namespace.
  if (isolation === 'namespace') expect(processes).toBe('66');
  else expect(Number(processes)).not.toBe(66);
});

test('a file grows no larger than the disk that a run may use', async () => {
  using b = containedBench();
  const write = 'head -c 4000000 /dev/zero > big';
  expect(await b.run(write)).toMatchObject({ exitCode: 0 });
  expect(statSync(`${b.work}/big`).size).toBe(4_000_000);
  expect(await b.run(`rm big; ${write}`, { limits: { diskBytes: MB } })).not.toMatchObject({ exitCode: 0 });
  expect(statSync(`${b.work}/big`).size).toBeLessThanOrEqual(MB);
});

test('memory is limited by process where no control group holds it, and only where that was asked for', () => {
  const at = { isolation: 'process-group', home: '/nonexistent' } as const;
  expect(limitArgs({ processes: 9 }, { ...at, isolation: 'namespace' })).toEqual(['25', '-', '-', '16384']);
  const args = limitArgs({ memoryBytes: 300 * MB }, at);
  const data = args[1] === '-' ? `${300 * 1024}` : args[1]!;
  const take = (limit: string) => {
    const script = `ulimit -d ${limit}; exec perl -e 'my $x = "a" x 600000000; print length $x'`;
    try {
      return execFileSync('sh', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return 'ended';
    }
  };
  expect(take('unlimited')).toBe('600000000');
  expect(take(data)).toBe('ended');
});

const FORKS =
  'my @p; for (1..200) { my $p = fork; last unless defined $p; if (!$p) { sleep 9; exit } push @p, $p } print scalar @p; kill 9, @p';

/** The part of the command line that the agent's own user namespace begins with, by an ordinary user. */
function forked(limits: ResourceLimits): number {
  using b = containedBench();
  const plan = { isolation: 'namespace' as const, home: b.home, show: [{ path: b.work }] };
  const argv = containedArgv(plan, { argv: ['perl', '-e', FORKS], cwd: b.work, env: { PATH: '/usr/bin' }, limits });
  const [file, ...args] = argv.slice(argv.lastIndexOf(argv[0]!));
  const user = process.getuid!() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  // The init opens the filter of system calls for it.
  const filter = openSync(builtFile(`adapters/sandbox/${filterFile({})}`), 'r');
  const stdio = ['ignore', 'pipe', 'inherit', 'ignore', 'ignore', filter] as const;
  try {
    return Number(execFileSync(file!, args, { encoding: 'utf8', cwd: '/', stdio: [...stdio], ...user }));
  } finally {
    closeSync(filter);
  }
}

test('a fork bomb of an ordinary user ends at the limit, whatever else that user runs', () => {
  expect(forked({})).toBe(200);
  expect(forked({ processes: 50 })).toBeLessThanOrEqual(66);
  expect(forked({ processes: 50 })).toBeGreaterThanOrEqual(50);
});
