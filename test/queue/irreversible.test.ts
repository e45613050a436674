import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { IRREVERSIBLE_COMMANDS, PROTECTED_BRANCHES } from '../../src/domain/people/irreversible.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { git, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

let fleet: TestFleet;
const fine = { command: ['sh', '-c', 'echo x >own.txt'], protocol: 'none' as const };
const line = (event: object) => `echo '${JSON.stringify(event)}'`;
/** Speaks as Claude Code does; says that it pushed. */
const pushes = {
  command: [
    'sh',
    '-c',
    [
      'cat >/dev/null',
      line({ type: 'system', subtype: 'init', session_id: 's', model: 'm' }),
      line({
        type: 'assistant',
        message: {
          id: 'm',
          content: [
            {
              type: 'tool_use',
              id: 't',
              name: 'Bash',
              input: { command: 'echo x >own.txt; git push origin HEAD:main' },
            },
          ],
        },
      }),
      'echo x >own.txt',
      line({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't', content: '' }] } }),
      line({ type: 'result', subtype: 'success', is_error: false, result: 'Done.', usage: {} }),
    ].join('\n'),
  ],
  protocol: 'claude' as const,
};

beforeAll(async () => {
  fleet = await TestFleet.start();
});
afterAll(() => fleet[Symbol.asyncDispose]());

async function lab(queue: string, timeout = '1d') {
  const repo = await fleet.repo(`repo-${queue}`);
  await git(repo, 'branch', 'release/1');
  const irreversible = { branches: PROTECTED_BRANCHES, commands: IRREVERSIBLE_COMMANDS, timeout };
  await fleet.worker(queue, { coders: { fine, pushes }, irreversible, worker: { slots: 1, queues: [queue] } });
  return {
    repo,
    enqueue: (input: Partial<TaskInput> = {}) =>
      fleet.fleet.enqueue({
        objective: 'x',
        repo,
        coder: 'fine',
        queue,
        deliver: 'merge',
        into: 'release/1',
        ...input,
      }),
  };
}
const asked = (id: string) => until(async () => (await fleet.fleet.view(id)).approval);

test('nothing is merged into a protected branch without a yes, and who said it stands in the signed receipts', async () => {
  const { repo, enqueue } = await lab('merge');
  const before = await git(repo, 'rev-parse', 'release/1');
  const id = await enqueue();
  expect((await asked(id)).why).toBe('it would be merged into release/1 (irreversible.branches: release/*)');
  expect(await git(repo, 'rev-parse', 'release/1')).toBe(before);
  await fleet.fleet.approve(id, { by: 'ada@telegram', why: 'looked at it' });
  expect(await fleet.settled(id)).toMatchObject({ state: 'done', merged: { into: 'release/1' } });
  await fleet.cli(['receipts', 'keys', '-o', 'keys.json']);
  const bundle = await fleet.cli(['receipts', 'export', id, '-o', 'bundle.jsonl']);
  expect(bundle.code).toBe(0);
  const { stdout, code } = await fleet.cli(['receipts', 'verify', 'bundle.jsonl', '--keys', 'keys.json']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/approval\b.*ada@telegram said yes at \d{4}-/);
});

test('what an agent was seen to run is told before more comes of it', async () => {
  const { enqueue } = await lab('push');
  const id = await enqueue({ coder: 'pushes', deliver: 'branch' });
  expect((await asked(id)).why).toBe('its agent ran git push origin HEAD:main (irreversible.commands: git push)');
  await fleet.fleet.approve(id, { by: 'ada', why: '' });
  expect(await fleet.settled(id)).toMatchObject({ state: 'done' });
});

test('what nobody says yes to in time is a no: it is parked, and nothing was merged', async () => {
  const { repo, enqueue } = await lab('late', '2s');
  const before = await git(repo, 'rev-parse', 'release/1');
  const id = await enqueue();
  const parked = await fleet.settled(id);
  expect(parked).toMatchObject({
    state: 'parked',
    reason: 'not-approved',
    approvals: [{ approved: false, by: 'timeout' }],
  });
  expect(parked.runs).toHaveLength(1);
  expect(parked.message).toContain('nobody said yes in time to this: it would be merged into release/1');
  expect(await git(repo, 'rev-parse', 'release/1')).toBe(before);
  await fleet.fleet.giveUp(id);
});
