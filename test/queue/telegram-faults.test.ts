import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ADA, ChannelLab } from '../helpers/channel-lab.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
let shop: string;
const coders = { ask: agent('ask-human.sh'), ok: agent('ok.sh') };

beforeAll(async () => {
  fleet = await TestFleet.start();
  shop = await fleet.repo('shop');
  await fleet.worker('one', { worker: { slots: 3 }, limits: { idle: '20s' }, coders });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const lab = (name: string, coder = 'ok', more: object = {}) =>
  ChannelLab.start(fleet, name, {
    coders,
    channels: { repos: { shop: { repo: shop, coder } }, telegram: { repo: 'shop' } as never },
    ...more,
  });
const tasksOf = async (objective: string) =>
  (await fleet.fleet.list({ all: true })).filter(({ title }) => title === objective);

test.each(['channel.heard', 'channel.recorded', 'channel.begun', 'channel.posted'])(
  'killed at %s, it makes one task, and no message twice but the one that nobody can know of',
  async (point) => {
    await using chat = await lab(`k-${point.split('.')[1]}`);
    const objective = `Survive ${point}`;
    const killed = await chat.run({ FLEET_FAILPOINT: point });
    chat.telegram.say(ADA, `/fleet ${objective}`);
    await killed.ended;
    await chat.run();
    await chat.shown(ADA, new RegExp(`^done: ${objective}`));
    expect(await tasksOf(objective)).toHaveLength(1);
    const own = chat.telegram.in(ADA).filter(({ text }) => text.startsWith(objective));
    expect(own).toHaveLength(point === 'channel.posted' ? 2 : 1);
    expect(own.at(-1)!.text).toContain('\ndone');
    expect(chat.telegram.in(ADA).filter(({ text }) => text.startsWith('done: '))).toHaveLength(1);
  },
);

test('killed between an answer and its record, the answer counts once; updates that come twice do nothing more', async () => {
  await using chat = await lab('k-answer', 'ask');
  await chat.run();
  chat.telegram.say(ADA, '/fleet Answer me');
  const asked = await chat.shown(ADA, 'asks: Which port?');
  const id = /^(\S+):/.exec(asked.text)![1]!;
  for (const run of [...chat.processes]) await run.kill();
  const killed = await chat.run({ FLEET_FAILPOINT: 'channel.heard' });
  chat.telegram.press(ADA, asked, '9090');
  await killed.ended;
  await chat.run();
  await chat.shown(ADA, 'ada@telegram answered: 9090');
  expect(await until(() => chat.telegram.notices[0])).toBe('You answered: 9090');
  chat.telegram.repeat();
  expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
  await chat.shown(ADA, /^done: Answer me/);
  expect(await tasksOf('Answer me')).toHaveLength(1);
  expect(chat.telegram.in(ADA).filter(({ text }) => text.startsWith('done: '))).toHaveLength(1);
});

test('what could not be sent is kept and sent once; a pause that is asked for is kept', async () => {
  await using chat = await lab('f-away');
  await chat.run();
  await chat.telegram.close();
  const id = await fleet.fleet.enqueue({ objective: 'Meanwhile', repo: shop, coder: 'ok', approval: 'before-run' });
  await until(async () => (await fleet.fleet.view(id)).state === 'awaiting-approval');
  await chat.telegram.open();
  chat.telegram.fault('sendMessage', { code: 429, retryAfter: 2 });
  const asked = await chat.shown(ADA, `${id}: Meanwhile`);
  const sends = chat.telegram.calls.filter((method) => method === 'sendMessage');
  expect(sends).toHaveLength(2);
  expect(chat.telegram.in(ADA)).toHaveLength(1);
  expect(asked.text).not.toContain('twice');
  chat.telegram.press(ADA, asked, 'Approve');
  expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
});

test('a token that is revoked is said once to who looks after the process; a new one in its place is taken up', async () => {
  await using chat = await lab('f-token', 'ok', { alerts: { command: ['sh', '-c', `cat >>"$HOME/alarm"`] } });
  const run = await chat.run({ HOME: chat.home });
  chat.telegram.token = `4242:${'B'.repeat(35)}`;
  // The call that waits was made with the old one.
  chat.telegram.say(ADA, '/help');
  await until(() => run.output().includes('Telegram refuses the bot token: put a new one from @BotFather'));
  const { stdout, code } = await fleet.cli(['doctor'], { env: { FLEET_HOME: chat.home } });
  expect(stdout).toMatch(/WRONG\s+telegram\s+Telegram refuses the bot token/);
  expect(code).toBe(1);
  await chat.token();
  chat.telegram.say(ADA, '/tasks');
  await until(() => chat.telegram.in(ADA).length > 0);
  expect(run.output().match(/refuses the bot token/g)!.length).toBeLessThanOrEqual(3);
  const doctor = await fleet.cli(['doctor'], { env: { FLEET_HOME: chat.home } });
  expect(doctor.stdout).toMatch(/ok\s+telegram\s+the bot @fleet_test_bot answers; heard are ada, ben/);
});

test('of two processes for one bot the owner hears in one sentence; a second one from the same home is refused', async () => {
  await using chat = await lab('f-taken');
  const first = await chat.run();
  const same = chat.spawn();
  await same.ended;
  expect(same.output()).toContain('another fleet channel run serves telegram from');
  chat.telegram.fault('getUpdates', { code: 409 });
  chat.telegram.say(ADA, '/help');
  await chat.shown(ADA, "another process reads this bot's messages");
  await chat.shown(ADA, '/fleet <objective>');
  expect(first.output()).toContain('another process reads');
});

test('a bot that nobody has started yet keeps what it has to say', async () => {
  await using chat = await lab('f-start');
  chat.telegram.closed.add(ADA);
  const run = await chat.run();
  const id = await fleet.fleet.enqueue({ objective: 'Early', repo: shop, coder: 'ok', approval: 'before-run' });
  await until(() => run.output().includes('did not take a message for chat 11'));
  chat.telegram.closed.clear();
  chat.telegram.say(ADA, '/start');
  await chat.shown(ADA, `${id}: Early`);
  await fleet.fleet.cancel(id);
});

test('more than ten ends in a minute are one digest', async () => {
  await using chat = await lab('f-digest');
  await chat.run();
  for (let n = 1; n <= 12; n += 1) chat.telegram.say(ADA, `/fleet Many ${n}`);
  await until(
    async () =>
      (await fleet.fleet.list({ all: true })).filter(
        ({ title, state }) => title.startsWith('Many ') && state === 'done',
      ).length === 12,
  );
  const digest = await chat.shown(ADA, /^\d+ tasks ended: /);
  const single = chat.telegram.in(ADA).filter(({ text }) => text.startsWith('done: Many'));
  const told = Number(/^\d+/.exec(digest.text)![0]);
  expect(told + single.length).toBe(12);
  expect(single.length).toBeLessThanOrEqual(10);
});
