import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addTask } from '../../src/producers/git-queue/people.ts';
import { lookAt } from '../../src/producers/git-queue/queue.ts';
import { cpuMsOf } from '../helpers/cpu.ts';
import { queueLab } from '../helpers/queue-lab.ts';
import { tempDir } from '../helpers/temp.ts';

let temp: Awaited<ReturnType<typeof tempDir>>;
beforeAll(async () => {
  temp = await tempDir();
});
afterAll(async () => temp[Symbol.asyncDispose]());

let made = 0;
/** A queue that is one commit of these files, made without laying them out. */
function lab(files: readonly { name: string; text: string }[]) {
  const dir = `${temp.path}/${(made += 1)}`;
  const { use } = queueLab(dir);
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const marks = new Map([...new Set(files.map(({ text }) => text))].map((text, index) => [text, index + 1]));
  const input = [
    ...[...marks].map(([text, mark]) => `blob\nmark :${mark}\n${data(text)}`),
    `commit refs/heads/main\ncommitter A <a@a> 0 +0000\n${data('many')}`,
    ...files.map(({ name, text }) => `M 100644 :${marks.get(text)} tasks/${name}.json\n`),
  ];
  execFileSync('git', ['--git-dir', `${dir}/q.git`, 'fast-import', '--quiet', '--force'], { input: input.join('') });
  return use;
}

const many = (count: number, textOf: (n: number) => string, name = 'task') =>
  Array.from({ length: count }, (_, n) => ({ name: `${name}-${n}`, text: textOf(n) }));
const task = (more: object = {}) => JSON.stringify({ description: 'Say done', type: 'message', ...more });
const reasons = (faults: readonly { message: string }[]) => [...new Set(faults.map(({ message }) => message))];

test('many names of one large file leave the ordinary tasks, and bounded memory', async () => {
  const giant = task({ note: 'x'.repeat(250_000) });
  const use = lab([...many(2_500, () => giant, 'giant'), { name: 'ordinary', text: task() }]);
  const before = process.memoryUsage().rss;
  const { tasks, faults, paths } = await use(lookAt);
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 ** 2);
  expect(tasks.has('tasks/ordinary.json')).toBe(true);
  expect(tasks.size + faults.length).toBe(2_501);
  expect(paths.size).toBe(2_501);
  expect(tasks.size).toBe(1 + Math.floor((64 * 1024 ** 2 - task().length) / giant.length));
  expect(reasons(faults)).toEqual(['is not read: 67108864 bytes of tasks are read at most, the smallest first']);
});

test('of more files than are read, the others are named, and none is added beside them', async () => {
  const use = lab(many(20_010, () => task()));
  const { tasks, faults } = await use(lookAt);
  expect(tasks.size).toBe(20_000);
  expect(faults).toEqual([{ path: 'tasks', message: 'has more than 20000 task files: the others are not read' }]);
  const added = { ...{ id: 'a', title: 'a', description: 'Do', type: undefined, forAgent: '' }, createdBy: 'me' };
  await expect(use((queue) => addTask(queue, { ...added, at: 'now', task: {} }))).rejects.toThrow(
    'tasks has more than 20000 task files',
  );
});

test('5,000 ordinary tasks are read in seconds', async () => {
  const use = lab(many(5_000, (n) => task({ title: `Task ${n}`, note: 'x'.repeat(1_000) })));
  const ms = await cpuMsOf(async () => {
    const { tasks, faults } = await use(lookAt);
    expect([tasks.size, faults]).toEqual([5_000, []]);
  });
  expect(ms).toBeLessThan(10_000);
});

test('many files with one id, and one file of many fields, hold nobody up', async () => {
  const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, 1]));
  const use = lab([...many(10_000, () => task({ id: 'same' })), ...many(20, (n) => task({ ...fields, n }), 'fields')]);
  const ms = await cpuMsOf(async () => {
    const { tasks, faults } = await use(lookAt);
    expect([tasks.size, faults.length]).toEqual([20, 10_000]);
  });
  expect(ms).toBeLessThan(10_000);
});

test('files of brackets take no more memory than their text', async () => {
  const nested = `[${'[],'.repeat(80_000)}1]`;
  const use = lab(many(100, (n) => `{"description": "${n}", "result": ${nested}, "task": {"x": 1}}`));
  const { tasks } = await use(lookAt);
  const [one] = tasks.values();
  expect(one!.task).toMatchObject({ task: { x: 1 } });
  const kept = [...tasks.values()].map(({ task }) => Object.getOwnPropertyDescriptor(task, 'result')!.value as unknown);
  expect(kept.every((value) => value === undefined)).toBe(true);
});
