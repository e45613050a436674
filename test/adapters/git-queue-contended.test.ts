import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { claimTask } from '../../src/producers/git-queue/people.ts';
import { bring, lookAt, withQueue } from '../../src/producers/git-queue/queue.ts';
import { git, IDENTITY } from '../helpers/git.ts';
import { queueLab } from '../helpers/queue-lab.ts';
import { tempDir } from '../helpers/temp.ts';

let temp: Awaited<ReturnType<typeof tempDir>>;
beforeAll(async () => {
  temp = await tempDir();
});
afterAll(async () => temp[Symbol.asyncDispose]());

let made = 0;
const lab = (files: Record<string, string>) => queueLab(`${temp.path}/${(made += 1)}`, files);
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

describe('claims', () => {
  test('of the same task by many at once: one has it', async () => {
    const { dir, use, show } = lab({ 'tasks/a.json': json({}) });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const tried = await Promise.allSettled(
      names.map((name) => use((queue) => claimTask(queue, { id: 'a', name }), { home: `${dir}/${name}` })),
    );
    const won = names.filter((_, index) => tried[index]?.status === 'fulfilled');
    expect(won).toHaveLength(1);
    expect(JSON.parse(show('tasks/a.json'))).toMatchObject({ claimed_by: won[0] });
    expect(git(`${dir}/q.git`, 'rev-list', '--count', 'main')).toBe('2');
  });

  test('of different tasks by many at once: each goes on top of the others', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { dir, use, push, show } = lab(Object.fromEntries(names.map((name) => [`tasks/${name}.json`, '{}'])));
    const all = names.map((name) => use((queue) => claimTask(queue, { id: name, name }), { home: `${dir}/${name}` }));
    push({ 'README.md': 'by hand\n' });
    await Promise.all(all);
    for (const name of names) expect(JSON.parse(show(`tasks/${name}.json`))).toMatchObject({ claimed_by: name });
    expect(show('README.md')).toBe('by hand');
    expect(git(`${dir}/q.git`, 'rev-list', '--count', '--merges', 'main')).toBe('0');
  });
});

test('a plain user who is first is never written over, and the change is made again on what is there then', async () => {
  const { use, push, show } = lab({ 'tasks/a.json': json({ n: 1 }), 'tasks/b.json': json({ n: 1 }) });
  const seen: (string | undefined)[] = [];
  await use(async (queue) => {
    const before = await lookAt(queue);
    push({ 'tasks/a.json': json({ n: 2 }) });
    await bring(queue, before, {
      verb: 'Try',
      changes: [
        {
          ...{ path: 'tasks/a.json', id: 'a' },
          make(now) {
            seen.push(now?.text);
            return { text: now!.text.replace(/\d/, (n) => String(Number(n) * 10)), outcome: null };
          },
        },
      ],
    });
  });
  expect(seen).toEqual([json({ n: 1 }), json({ n: 2 })]);
  expect(show('tasks/a.json').trim()).toBe(json({ n: 20 }).trim());
});

test('a remote that refuses says why, once', async () => {
  const { dir, use } = lab({ 'tasks/a.json': '{}' });
  writeFileSync(`${dir}/q.git/hooks/update`, '#!/bin/sh\necho "only on Mondays" >&2\nexit 1\n', { mode: 0o755 });
  await expect(use((queue) => claimTask(queue, { id: 'a', name: 'jean' }))).rejects.toThrow(
    /q\.git did not take the commit: .*hook declined/,
  );
  const { dir: other } = lab({ 'tasks/a.json': '{}' });
  const open = { url: `${other}/user`, home: `${other}/home`, identity: IDENTITY };
  await expect(withQueue(open, (queue) => claimTask(queue, { id: 'a', name: 'jean' }))).rejects.toThrow(
    /its branch is checked out there: use a bare repository/,
  );
});

test('a branch that somebody rewound is not brought back', async () => {
  const { dir, use, push } = lab({ 'tasks/a.json': json({}) });
  const first = git(`${dir}/q.git`, 'rev-parse', 'main');
  push({ 'tasks/dropped.json': '{}' });
  await use(async (queue) => {
    const before = await lookAt(queue);
    git(`${dir}/q.git`, 'update-ref', 'refs/heads/main', first);
    const change = { path: 'tasks/a.json', id: 'a', make: () => ({ text: '{"a": 1}', outcome: null }) };
    await bring(queue, before, { verb: 'Try', changes: [change] });
  });
  expect(git(`${dir}/q.git`, 'ls-tree', '-r', '--name-only', 'main')).toBe('tasks/a.json');
});

test('lock files that a killed git left are nobody’s', async () => {
  const { dir, use } = lab({ 'tasks/a.json': '{}' });
  await use(lookAt);
  const [folder] = readdirSync(`${dir}/home/queues`).filter((name) => name.endsWith('.git'));
  const copy = `${dir}/home/queues/${folder}`;
  for (const name of ['shallow.lock', 'refs/queue/tip.lock', 'refs/queue/next.lock', 'packed-refs.lock'])
    writeFileSync(`${copy}/${name}`, '');
  await use((queue) => claimTask(queue, { id: 'a', name: 'jean' }));
  expect((await use(lookAt)).tasks.get('tasks/a.json')?.task.claimedBy).toBe('jean');
});

test('a damaged copy is fetched again', async () => {
  const { dir, use } = lab({ 'tasks/a.json': json({ description: 'x' }) });
  await use(lookAt);
  const [folder] = readdirSync(`${dir}/home/queues`).filter((name) => name.endsWith('.git'));
  const objects = `${dir}/home/queues/${folder}/objects`;
  for (const path of readdirSync(objects, { recursive: true, encoding: 'utf8' }))
    if (/^..\/.{38}$/.test(path)) {
      chmodSync(`${objects}/${path}`, 0o600);
      writeFileSync(`${objects}/${path}`, 'rubbish');
    }
  expect((await use(lookAt)).tasks.get('tasks/a.json')?.task.description).toBe('x');
});
