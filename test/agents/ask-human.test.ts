import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { git, TestFleet } from '../helpers/fleet.ts';
import { startModelServer, type ModelServer, type Turn } from '../helpers/model-server.ts';
import { until } from '../helpers/until.ts';
import { scripted } from './scenario.ts';

/** Whole tasks whose real agents use the tools of their run, each from within its own namespace; only the model is scripted. */

let fleet: TestFleet;
let model: ModelServer;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  model = await startModelServer();
  repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  const { coders, env } = scripted(model);
  await fleet.worker('desk', { coders }, { env: { ...env, HOME: `${fleet.root}/user` } });
}, 120_000);
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
}, 60_000);

/** Codex keeps the tools of servers out of its requests until its model looks for them. */
const finds = (coder: string): Turn[] => (coder === 'codex' ? [{ tools: [{ find: 'ask_human propose' }] }] : []);

test.each(['claude', 'codex'])('%s asks by its tool, and goes on in its session with the answer', async (coder) => {
  model.script([
    { text: 'I write a draft.', tools: [{ write: 'draft.txt', content: 'draft\n' }] },
    ...finds(coder),
    { tools: [{ use: 'ask_human', input: { question: 'Which port?', options: ['8080', '9090'] } }] },
    { tools: [{ use: 'propose', input: { objective: 'Document the port', allow: ['docs/**'] } }] },
    { text: 'I have asked which port it should be.' },
  ]);
  const id = await fleet.fleet.enqueue({
    objective: 'Choose a port',
    repo,
    coder,
    scope: { allow: ['*.txt', 'docs/**'] },
  });
  const question = await until(async () => (await fleet.fleet.view(id)).question, { timeoutMs: 60_000 });
  expect(question).toMatchObject({ id: 'q1', text: 'Which port?', options: ['8080', '9090'] });
  // Nobody has heard yet whether the work that it belongs to goes on.
  expect((await fleet.fleet.view(id)).followUps ?? []).toEqual([]);

  const asked = model.requests.length;
  model.script([
    { tools: [{ sh: "echo 9090 >port.txt && git add -A && git commit -qm 'Add the port'" }] },
    { text: 'All done: the port is 9090.' },
  ]);
  await fleet.fleet.answer(id, { answer: '9090', by: 'ada' });
  const done = await fleet.settled(id);
  expect(done).toMatchObject({ state: 'done', answers: [{ answer: '9090', by: 'ada' }] });
  expect(done.followUps).toEqual([{ id: `${id}.1-1`, title: 'Document the port' }]);
  expect(await fleet.fleet.view(`${id}.1-1`)).toMatchObject({ parent: id, state: 'awaiting-approval' });
  expect(done.runs.at(-1)).toMatchObject({ resumedFrom: done.runs[0]?.runId, sameSession: true });
  const body = model.requests.slice(asked).find(({ turn }) => turn === 0)?.body ?? '';
  expect(body).toContain('I write a draft.');
  expect(body).toContain('The answer (ada):\\n> 9090');
  expect(await git(repo, 'show', `${done.commit}:port.txt`)).toBe('9090');
  expect(await git(repo, 'show', `${done.commit}:draft.txt`)).toBe('draft');
});
