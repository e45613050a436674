import { execFileSync, spawnSync } from 'node:child_process';
import { afterEach, expect, test } from '@jest/globals';
import { GitFailed } from '../../src/adapters/git/git.ts';
import { GitProcess } from '../../src/adapters/git/process/client.ts';
import { tempDir } from '../helpers/temp.ts';
import { until } from '../helpers/until.ts';

const made: GitProcess[] = [];
const start = () => {
  const runner = new GitProcess();
  made.push(runner);
  return runner;
};
afterEach(() => made.splice(0).forEach((runner) => runner.close()));

const children = () =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('git/process/main'))
    .map((line) => Number.parseInt(line, 10));

test('gives what git says, and its failures as they are', async () => {
  await using temp = await tempDir();
  const runner = start();
  await runner.git(['init', '-q', '--bare', temp.path]);
  const id = await runner.git(['hash-object', '-w', '--stdin'], {
    gitDir: temp.path,
    input: Buffer.from([0, 255, 10]),
  });
  const blob = await runner.git(['cat-file', 'blob', id.toString().trim()], { gitDir: temp.path });
  expect([...blob]).toEqual([0, 255, 10]);
  await expect(runner.git(['cat-file', '-e', 'f'.repeat(40)], { gitDir: temp.path })).rejects.toBeInstanceOf(GitFailed);
});

test('what was under way when its process was killed is asked of the next one', async () => {
  await using temp = await tempDir();
  const runner = start();
  await runner.git(['init', '-q', '--bare', temp.path]);
  const [first] = children();
  const all = Promise.all(
    Array.from({ length: 20 }, () => runner.git(['rev-parse', '--is-bare-repository'], { gitDir: temp.path })),
  );
  process.kill(first!, 'SIGKILL');
  expect((await all).map(String)).toEqual(Array.from({ length: 20 }, () => 'true\n'));
  expect(children()).not.toContain(first);
});

test('closing it ends its process', async () => {
  const runner = start();
  await runner.git(['version']);
  const [pid] = children();
  runner.close();
  await until(() => !children().includes(pid!));
});

test('without file descriptors it says so, and the process that asked lives on', () => {
  const client = new URL('../../src/adapters/git/process/client.ts', import.meta.url).href;
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { GitProcess } from '${client}';
    import { isDiskTrouble } from '${new URL('../../src/adapters/disk/free-space.ts', import.meta.url).href}';
    const runner = new GitProcess();
    const taken = [];
    try { for (;;) taken.push(openSync('/dev/null')); } catch {}
    const trouble = await runner.git(['version']).then(() => false, isDiskTrouble);
    await new Promise(setImmediate);
    for (const fd of taken) closeSync(fd);
    console.log(trouble, String(await runner.git(['version'])));
    runner.close();`;
  const shell = ['-c', 'ulimit -n 256; exec "$0" --import tsx --input-type=module -e "$1"', process.execPath, script];
  const { stdout, stderr, status } = spawnSync('/bin/sh', shell, { encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(stdout).toMatch(/^true git version/);
});
