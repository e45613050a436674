import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ADA, BEN, ChannelLab, GROUP, STRANGER } from '../helpers/channel-lab.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { scripted } from '../helpers/scripted.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let shop: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  shop = await fleet.repo('shop');
  await fleet.worker('one', {
    worker: { slots: 3 },
    limits: { idle: '20s' },
    coders: { ask: agent('ask-human.sh'), ok: agent('ok.sh'), scripted },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const lab = (name: string, coder = 'ok', more: object = {}) =>
  ChannelLab.start(fleet, name, {
    coders: { ask: agent('ask-human.sh'), ok: agent('ok.sh'), scripted },
    channels: {
      repos: { shop: { repo: shop, coder }, ...more },
      telegram: { repo: 'shop', chats: [{ id: GROUP }] } as never,
    },
  });

test('a task from the phone has one message that goes on with it, and one that tells its end', async () => {
  await using chat = await lab('c-simple');
  await chat.run();
  chat.telegram.say(ADA, '/fleet Do the usual thing');
  const message = await chat.shown(ADA, /^Do the usual thing\ndone/);
  expect(message.text).toContain('branch fleet/do-the-usual-thing-');
  expect(message.edits).toBeGreaterThan(0);
  const end = await chat.shown(ADA, /^done: Do the usual thing/);
  expect(end.replyTo).toBe(message.id);
  expect(chat.telegram.in(ADA)).toHaveLength(2);
});

test('a question is answered by a tap, and its run goes on within ten seconds', async () => {
  await using chat = await lab('c-ask', 'ask');
  await chat.run();
  chat.telegram.say(ADA, '/fleet @shop Choose a port');
  const asked = await chat.shown(ADA, 'Which port?');
  expect(asked.buttons.map(({ text }) => text)).toEqual(['8080', '9090']);
  const task = await chat.shown(ADA, /^Choose a port/);
  const id = task.text.split('\n').at(-1)!;
  const since = performance.now();
  chat.telegram.press(ADA, asked, '9090');
  await until(async () => (await fleet.fleet.view(id)).runs.length === 2);
  const took = performance.now() - since;
  process.stdout.write(`from a tap to the next run: ${Math.round(took)} ms\n`);
  expect(took).toBeLessThan(10_000);
  expect((await chat.shown(ADA, 'ada@telegram answered: 9090')).buttons).toEqual([]);
  expect(chat.telegram.notices).toEqual(['You answered: 9090']);
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', answers: [{ answer: '9090', by: 'ada@telegram' }] });
});

test('a reply in words is the answer; whoever comes second is told who was faster; the terminal shows who it was', async () => {
  await using chat = await lab('c-words', 'ask');
  await chat.run();
  chat.telegram.say(ADA, '/fleet Choose another port');
  const asked = await chat.shown(ADA, 'asks: Which port?');
  const id = /^(\S+):/.exec(asked.text)![1]!;
  const late = { ...asked, buttons: [...asked.buttons] };
  chat.telegram.say(ADA, 'the one of the main server: שלום 👩‍👩‍👧', { replyTo: asked.id });
  await chat.shown(ADA, 'ada@telegram answered: the one of the main server: שלום 👩‍👩‍👧');
  chat.telegram.press(ADA, late, '8080');
  expect(await until(() => chat.telegram.notices[0])).toContain('question q1 was answered by ada@telegram');
  const { stdout } = await fleet.cli(['task', id]);
  expect(stdout).toContain('ada@telegram');
  expect((await fleet.settled(id)).answers).toHaveLength(1);
});

test('what is answered at the terminal is shown in the chat; what nobody here started is asked of the owner', async () => {
  await using chat = await lab('c-owner', 'ask');
  await chat.run();
  const id = await fleet.fleet.enqueue({ objective: 'From a terminal', repo: shop, coder: 'ask' });
  const asked = await chat.shown(ADA, `${id}: From a terminal`);
  expect((await fleet.cli(['task', id, 'answer', '9090'])).code).toBe(0);
  const closed = await until(() =>
    chat.telegram.messages.find((one) => one.id === asked.id && one.buttons.length === 0),
  );
  expect(closed.text).toMatch(/@\S+ answered: 9090$/);
  await fleet.settled(id);
});

test('an approval is given by a tap, and a rejection needs words', async () => {
  await using chat = await lab('c-approve');
  await chat.run();
  const first = await fleet.fleet.enqueue({ objective: 'One', repo: shop, coder: 'ok', approval: 'before-run' });
  const asked = await chat.shown(ADA, `${first}: One`);
  chat.telegram.press(ADA, asked, 'Approve');
  expect(await fleet.settled(first)).toMatchObject({
    state: 'done',
    approvals: [{ approved: true, by: 'ada@telegram' }],
  });
  const second = await fleet.fleet.enqueue({ objective: 'Two', repo: shop, coder: 'ok', approval: 'before-run' });
  const other = await chat.shown(ADA, `${second}: Two`);
  chat.telegram.say(ADA, 'no', { replyTo: other.id });
  await chat.shown(ADA, 'Say why');
  chat.telegram.say(ADA, 'No, that is not ours to change', { replyTo: other.id });
  await chat.shown(ADA, 'ada@telegram said no: that is not ours to change');
  const parked = await chat.shown(ADA, `${second}: Two\nis parked`);
  chat.telegram.press(ADA, parked, 'Give up');
  await chat.shown(ADA, 'ada@telegram said give-up');
  expect(await fleet.settled(second)).toMatchObject({ state: 'failed' });
});

test('strangers get nothing and the owner one notice; forged buttons, unknown chats, commands, ids and aliases get one sentence', async () => {
  await using chat = await lab('c-bad');
  await chat.run();
  const asked = await fleet.fleet.enqueue({ objective: 'Mine', repo: shop, coder: 'ok', approval: 'before-run' });
  const message = await chat.shown(ADA, `${asked}: Mine`);
  for (const text of ['/fleet Steal', '/tasks', 'hello']) chat.telegram.say(STRANGER, text);
  chat.telegram.press(STRANGER, message, 'Approve');
  await chat.shown(ADA, `(user id ${STRANGER}) wrote to this bot and is not heard`);
  chat.telegram.press(ADA, message, { data: 'forged' });
  expect(await until(() => chat.telegram.notices[0])).toContain('too old, or none of mine');
  chat.telegram.say(ADA, '/tasks', { chat: -77 });
  await chat.shown(-77, 'This chat (id -77) is not listed');
  chat.telegram.say(ADA, '/task no-such-task');
  await chat.shown(ADA, 'there is no task no-such-task');
  chat.telegram.say(ADA, '/fleet @nowhere Do it');
  await chat.shown(ADA, 'There is no repository @nowhere: name one of @shop.');
  chat.telegram.say(ADA, '/dance');
  await chat.shown(ADA, 'There is no command /dance.');
  chat.telegram.say(ADA, '/fleet');
  await chat.shown(ADA, 'Say what is to be done');
  expect(chat.telegram.in(STRANGER)).toEqual([]);
  expect(chat.telegram.in(ADA).filter(({ text }) => text.includes('is not heard'))).toHaveLength(1);
  expect((await fleet.fleet.view(asked)).state).toBe('awaiting-approval');
  chat.telegram.say(BEN, `/cancel ${asked}`);
  await chat.shown(BEN, `Task ${asked} is being cancelled`);
  await chat.shown(ADA, 'nobody has to say anything any more: it is cancelled');
});

test('long texts are taken whole, and shown as far as a message goes', async () => {
  await using chat = await lab('c-long');
  await chat.run();
  const words = `${'ünïcödé 👍 '.repeat(500)}end`;
  chat.telegram.say(ADA, `/fleet ${words}`);
  const task = await chat.shown(ADA, /\ndone/);
  const id = task.text.split('\n').at(-1)!;
  expect((await fleet.fleet.view(id)).objective).toBe(words);
  chat.telegram.say(ADA, `/task ${id}`);
  expect((await chat.shown(ADA, /\nok exit/)).text.length).toBeLessThanOrEqual(4_096);
});
