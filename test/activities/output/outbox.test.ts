import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { Deps } from '../../../src/activities/worker/context.ts';
import { askedBy, proposedBy, toolServer } from '../../../src/activities/output/outbox.ts';
import { homeLayout } from '../../../src/domain/names.ts';
import type { AgentTool } from '../../../src/domain/task/schema.ts';
import { tempDir } from '../../helpers/temp.ts';

const REF = { taskId: 'build', runId: '1-x' };

async function outbox(agentTools: AgentTool[] | undefined = ['ask_human', 'propose']) {
  const temp = await tempDir();
  const home = homeLayout(temp.path);
  const { outbox: path } = home.run(REF.taskId, REF.runId);
  await mkdir(`${path}/follow-ups`, { recursive: true });
  const deps = { home, registry: { find: () => ({ prepared: { task: { agentTools } } }) } } as unknown as Deps;
  return {
    temp: temp.path,
    put: (name: string, text: string) => writeFile(`${path}/${name}`, text),
    link: (name: string, to: string) => symlink(to, `${path}/${name}`),
    asked: () => askedBy(deps, REF),
    proposed: () => proposedBy(deps, REF),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

test('an empty outbox says nothing', async () => {
  await using box = await outbox();
  expect(await box.asked()).toBeUndefined();
  expect(await box.proposed()).toEqual({ followUps: [], wrong: [] });
});

test('follow-ups come in the order of their names; of each that cannot be taken it is said why', async () => {
  await using box = await outbox();
  await box.put('follow-ups/2.md', 'Second');
  await box.put('follow-ups/1.json', '{"task":"First"}');
  await box.put('follow-ups/3.json', '{');
  await box.put('follow-ups/.4.json.part', '{');
  expect(await box.proposed()).toEqual({
    followUps: [{ task: { objective: 'First' } }, { task: { objective: 'Second' } }],
    wrong: ['3.json: is no valid JSON'],
  });
});

test('links are not followed, and what is too large or too much is left out', async () => {
  await using box = await outbox();
  await writeFile(`${box.temp}/secret`, '{"task":"Secret","question":"Secret"}');
  await box.link('follow-ups/0.json', `${box.temp}/secret`);
  await box.link('question.json', `${box.temp}/secret`);
  await box.put('follow-ups/1.md', 'x'.repeat(33 * 1024));
  for (let n = 10; n < 35; n += 1) await box.put(`follow-ups/${n}.md`, `Task ${n}`);
  expect(await box.asked()).toBeUndefined();
  const { followUps, wrong } = await box.proposed();
  expect(followUps).toHaveLength(20);
  expect(wrong).toHaveLength(7);
  expect(wrong[0]).toBe('0.json: is no regular file of 32 KiB at most, or one more than 20');
  expect(JSON.stringify([followUps, wrong])).not.toContain('Secret');
});

test('all of them together are bounded', async () => {
  await using box = await outbox();
  for (let n = 1; n < 8; n += 1) await box.put(`follow-ups/${n}.md`, 'x'.repeat(30 * 1024));
  const { followUps, wrong } = await box.proposed();
  expect(followUps).toHaveLength(4);
  expect(wrong[0]).toBe('5.md: with it the follow-ups have more than 128 KiB');
});

test('what its task does not allow is not read, nor offered as a tool', async () => {
  await using box = await outbox(['propose']);
  await box.put('question.md', 'Which?');
  await box.put('follow-ups/1.md', 'Next');
  expect(await box.asked()).toBeUndefined();
  expect((await box.proposed()).followUps).toHaveLength(1);
  expect(toolServer('/o', ['propose'])?.args.slice(1)).toEqual(['/o', 'propose']);
  expect(toolServer('/o', [])).toBeUndefined();
});
