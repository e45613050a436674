import { expect, test } from '@jest/globals';
import { execa } from 'execa';

/** What a process of its own does that outlives failed spawns, on Linux. */
const runs = (script: string) =>
  execa(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', `${GIVEN} ${script}`], { reject: false });
const GIVEN = `
  import { execa } from 'execa';
  import { readdirSync } from 'node:fs';
  import { execFileSync } from 'node:child_process';
  import { outliveFailedSpawns } from './src/adapters/program/failed-spawns.ts';
  outliveFailedSpawns();
  const limit = (more) => {
    const count = readdirSync('/proc/self/fd').length + more;
    execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=' + count + ':']);
  };`;

test('a program that cannot be started for want of file descriptors is its caller’s matter alone', async () => {
  const { exitCode, stdout } = await runs(`
    limit(0);
    try { await execa('true'); } catch { console.log('told'); }
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log('alive');`);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'told\nalive' });
});

test('a program that answers questions is told of as one that cannot be run', async () => {
  const { exitCode, stdout } = await runs(`
    const { askProgram } = await import('./src/adapters/program/run-with-stdin.ts');
    limit(0);
    console.log(JSON.stringify(await askProgram({ command: ['true'], env: {}, input: '', timeoutMs: 5_000 })));`);
  expect({ exitCode, said: JSON.parse(stdout) as unknown }).toEqual({
    exitCode: 0,
    said: { ok: false, why: 'cannot be run: spawn true EMFILE' },
  });
});

test('anything else that nobody hears ends the process, and is said', async () => {
  for (const script of [
    `setTimeout(() => { throw new Error('unheard'); });`,
    `Promise.reject(new Error('unheard'));`,
  ]) {
    const { exitCode, stdout, stderr } = await runs(`${script} setTimeout(() => console.log('alive'), 1_000);`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('Error: unheard');
  }
});
