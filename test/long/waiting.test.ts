import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

const LOGIN = `https://example.com/oauth/authorize?code=true&state=${'s'.repeat(1_200)}`;
const COMMIT = 'echo made > made.txt && git add made.txt && git commit -qm made';
const sh = (script: string) => ({ command: ['sh', '-c', script], protocol: 'none' as const });

let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  const coders = {
    ...{ ask: agent('ask.sh'), refused: agent('refused.mjs') },
    login: sh(`printf 'Open this page to log in:\\n\\n${LOGIN}\\n\\nPaste code here if prompted > '; exec sleep 86400`),
    menu: sh(`printf 'Bash(rm -f x)\\nDo you want to proceed?\\n  1. Yes\\n  2. No\\n'; exec sleep 86400`),
    repeats: sh(`while :; do echo 'Working on it …'; sleep 0.2; done`),
    spins: sh(`i=0; while :; do i=$((i + 1)); printf '\\r\\033[32mThinking… %ss\\033[0m' $i >&2; sleep 0.2; done`),
    downloads: sh(
      `i=0; while [ $i -lt 40 ]; do i=$((i + 1)); printf '\\rDownloading %s %%' $i; sleep 0.2; done; ${COMMIT}`,
    ),
    compiles: sh(
      `for w in a b c d e f g h i j k l m n o p q r s t u v w x y z; do echo "Compiling $w"; sleep 0.4; done; ${COMMIT}`,
    ),
  };
  await fleet.worker('desk', {
    ...{ coders, worker: { slots: 4 } },
    alerts: { command: ['sh', '-c', `printf "%s\\n" "$(cat)" >> '${fleet.root}/alerts'`] },
  });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const ONCE = { objective: 'Add made.txt', retry: { maxAttempts: 1 } };

test.concurrent('an agent that asks at a terminal is stopped long before it would count as stalled, with its question', async () => {
  const startedAt = performance.now();
  const id = await fleet.fleet.enqueue({ ...ONCE, repo, coder: 'ask', limits: { idle: '5m' } });
  const report = await fleet.settled(id, 150_000);
  expect(report).toMatchObject({ state: 'parked', reason: 'waiting-for-permission' });
  expect(report.message).toContain('Username for https://git.example.com:');
  expect(performance.now() - startedAt).toBeLessThan(150_000);
});

test.concurrent('an agent that was refused its tools did not make things up: what it lacked is named', async () => {
  const id = await fleet.fleet.enqueue({ ...ONCE, repo, coder: 'refused' });
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'parked', reason: 'permission-refused', attempts: { used: 1 } });
  expect(report.message).toMatch(
    /^it went on without a login for MCP server wiki, a permission for Write: not granted yet\./,
  );
  expect((await fleet.cli(['task', id, 'events'])).stdout).toMatch(/refused +a login for MCP server wiki/);
});

const IDLE = { limits: { idle: '4s' } };

async function alertOf(id: string): Promise<{ message: string }> {
  return until(async () => {
    const lines = (await readFile(`${fleet.root}/alerts`, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as { id: string; message: string }).find((one) => one.id === id);
  });
}

test.concurrent('a login that waits for a code is told with its address whole, and uses up no attempt', async () => {
  const id = await fleet.fleet.enqueue({ objective: 'Add made.txt', repo, coder: 'login', ...IDLE });
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'parked', reason: 'waiting-for-permission', attempts: { used: 0 } });
  expect(report.runs).toHaveLength(1);
  expect(report.message).toContain(`\n${LOGIN}\nPaste code here if prompted >`);
  expect((await alertOf(id)).message).toBe(report.message);
  for (const args of [['task', id], ['inbox']]) expect((await fleet.cli(args)).stdout).toContain(LOGIN);
});

test.concurrent('a menu of numbers is a question, and is told with its choices', async () => {
  const id = await fleet.fleet.enqueue({ objective: 'Add made.txt', repo, coder: 'menu', ...IDLE });
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'parked', reason: 'waiting-for-permission', attempts: { used: 0 } });
  expect(report.message).toContain('Bash(rm -f x)\nDo you want to proceed?\n1. Yes\n2. No');
  expect((await alertOf(id)).message).toBe(report.message);
});

test.concurrent.each([
  ['one line', 'repeats', 'Working on it …'],
  ['a spinner', 'spins', 'Thinking… '],
])('an agent that prints %s for ever makes no progress, and its last words are told', async (_, coder, words) => {
  const id = await fleet.fleet.enqueue({ ...ONCE, repo, coder, ...IDLE });
  const report = await fleet.settled(id);
  expect(report).toMatchObject({ state: 'parked', reason: 'stalled', attempts: { used: 1 } });
  expect(report.message).toContain(`it said last:\n${words}`);
});

test.concurrent.each(['downloads', 'compiles'])(
  'an agent that %s for longer than its idle limit goes on',
  async (coder) => {
    const id = await fleet.fleet.enqueue({ ...ONCE, repo, coder, ...IDLE });
    expect(await fleet.settled(id)).toMatchObject({ state: 'done', runs: [{ reason: null }] });
  },
);
