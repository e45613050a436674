import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { RunRegistry, type RunRecord } from '../../../src/adapters/state/run-registry.ts';
import { homeLayout } from '../../../src/domain/names.ts';
import { tempDir } from '../../helpers/temp.ts';
import { until } from '../../helpers/until.ts';

const record = (runId: string): RunRecord => ({
  ...{
    taskId: 'task',
    runId,
    n: 1,
    coder: 'x',
    credential: null,
    structured: false,
    server: 's',
    claimedAt: '',
    prepared: null,
  },
  workflowRunId: 'w',
});

test('no more runs than slots, however many ask at once, and a restart finds the same', async () => {
  await using temp = await tempDir();
  const home = homeLayout(temp.path);
  const registry = await RunRegistry.open(home, 's');
  const taken = await Promise.all(['1-a', '1-b', '1-c', '1-d'].map((id) => registry.claim(record(id), 3)));
  expect(taken.filter(Boolean)).toHaveLength(3);
  await mkdir(`${home.runs}/half/1-x`, { recursive: true });
  await writeFile(`${home.runs}/stray`, '');
  const again = await RunRegistry.open(home, 's');
  expect(existsSync(`${home.runs}/half`)).toBe(false);
  expect(
    again
      .list()
      .map(({ runId }) => runId)
      .sort(),
  ).toEqual(['1-a', '1-b', '1-c']);
  expect(again.find({ taskId: 'other', runId: '1-a' })).toBeUndefined();
  await again.release(record('1-a'));
  await again.release(record('1-a'));
  expect(again.size).toBe(2);
});

test('an activity of a run begins when the one before has really ended', async () => {
  await using temp = await tempDir();
  const registry = await RunRegistry.open(homeLayout(temp.path), 's');
  await registry.claim(record('1-a'), 1);
  const order: string[] = [];
  const none = (): void => {};
  let end = none;
  const first = registry.using(record('1-a'), () =>
    new Promise<void>((resolve) => (end = resolve)).then(() => void order.push('first')),
  );
  const second = registry.using(record('1-a'), async () => void order.push('second'));
  expect(registry.quietFor(0)).toEqual([]);
  await until(() => end !== none);
  end();
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
  await expect(registry.using(record('1-a'), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await registry.using(record('1-a'), async () => 'goes on')).toBe('goes on');
});
