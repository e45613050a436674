import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { until } from '../helpers/until.ts';
import { tempDir } from '../helpers/temp.ts';
import { Lanes, summary } from './lanes.ts';

const LIMITS = { start: 600, retry: 600, end: 600 };
// Jest would print it, and a reader of CI's output take it for red tests of ours.
const unheard = () => {};

/** A suite with one test that is always green, one that is always red, and one that is red the first time. */
async function mixed(dir: string): Promise<string> {
  const config = `${dir}/jest.config.json`;
  await writeFile(config, JSON.stringify({ rootDir: dir, testEnvironment: 'node', testMatch: ['**/*.test.cjs'] }));
  await writeFile(
    `${dir}/mixed.test.cjs`,
    `const { existsSync, writeFileSync } = require('node:fs');
     test('green', () => {});
     test('red (always)', () => { throw new Error('red'); });
     test('red at first', () => {
       if (existsSync(${JSON.stringify(`${dir}/seen`)})) return;
       writeFileSync(${JSON.stringify(`${dir}/seen`)}, '');
       throw new Error('not yet');
     });`,
  );
  return config;
}

test('what is red runs once more alone: green then, it blinked, and red again, it failed', async () => {
  await using temp = await tempDir();
  const config = await mixed(temp.path);
  const lanes = new Lanes(LIMITS, unheard);
  const sum = await lanes.run([
    [lanes.suite('mixed', config)],
    [
      lanes.command('well', ['true']),
      lanes.command('badly', ['false']),
      lanes.command('at last', ['sh', '-c', `[ -e ${temp.path}/tried ] || { touch ${temp.path}/tried; exit 1; }`]),
    ],
  ]);
  expect(sum).toEqual({
    // `green`, `red at first`, `well` and `at last`
    passed: 4,
    failed: expect.arrayContaining(['mixed: red (always)', 'badly']),
    blinked: expect.arrayContaining(['mixed: red at first', 'at last']),
    leftOut: [],
  });
  expect([sum.failed.length, sum.blinked.length]).toEqual([2, 2]);
  expect(summary(sum).at(-1)).toBe('4 passed, 2 failed');
});

test('a file that cannot be loaded fails, and is no green one', async () => {
  await using temp = await tempDir();
  const config = await mixed(temp.path);
  await writeFile(`${temp.path}/mixed.test.cjs`, 'this is no program');
  const lanes = new Lanes(LIMITS, unheard);
  expect(await lanes.run([[lanes.suite('broken', config)]])).toMatchObject({
    passed: 0,
    failed: ['broken: mixed.test.cjs'],
  });
});

test('what a job leaves behind is ended, and not waited for', async () => {
  const pid: string[] = [];
  const lanes = new Lanes(LIMITS, (text) => void pid.push(...(/^pid (\d+)/m.exec(text)?.slice(1) ?? [])));
  await lanes.run([[lanes.command('leaves', ['sh', '-c', 'sleep 1000 & echo pid $!'])]]);
  await until(() => pid.length === 1 && !existsSync(`/proc/${pid[0]}`));
});

test('no time: what has not begun is left out by name, and what was red is not run again', async () => {
  const lanes = new Lanes({ start: -1, retry: -1, end: 600 }, unheard);
  expect(await lanes.run([[lanes.command('late', ['true'])]])).toMatchObject({ passed: 0, leftOut: ['late'] });
  expect(summary({ passed: 3, failed: [], blinked: [], leftOut: ['late'] }).at(-1)).toBe(
    '3 passed, 0 failed, 1 skipped',
  );
  const strict = new Lanes({ start: 600, retry: -1, end: 600 }, unheard);
  expect(await strict.run([[strict.command('red', ['false'])]])).toMatchObject({ failed: ['red'], blinked: [] });
});

test('a lane that is through takes the last job of the other', async () => {
  const began: string[] = [];
  const job = (name: string, after?: string) => ({
    name,
    run: async () => {
      began.push(name);
      if (after) await until(() => began.includes(after));
      return { passed: 1, failed: [], retries: [] };
    },
  });
  const sum = await new Lanes(LIMITS, unheard).run([[job('a')], [job('b', 'd'), job('c'), job('d')]]);
  expect(began).toEqual(['a', 'b', 'd', 'c']);
  expect(sum.passed).toBe(4);
}, 20_000);
