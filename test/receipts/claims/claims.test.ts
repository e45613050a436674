import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { AgentEvent } from '../../../src/domain/agent/event.ts';
import { tools } from '../../../src/receipts/kinds/tools.ts';
import { tempDir } from '../../helpers/temp.ts';
import { answer, call, evidenceOf } from '../evidence.ts';
import { HONEST, LYING, MORE_HONEST, WORK, type Did } from '../last-messages.ts';
import { LET_THROUGH, RUNS, STILL_CAUGHT } from '../natural-sentences.ts';
import { cpuMsOf } from '../../helpers/cpu.ts';

/** An agent's last words against its tool calls: what honest agents say passes, what no run can have shown does not. */

function judge(claim: string, { edits = [], ran = [], changes = [], raw = [] }: Did) {
  const events = [
    ...edits.flatMap((path, i) => [
      call(`e${i}`, 'Edit', JSON.stringify({ file_path: `/w/tree/${path}`, old_string: 'a', new_string: 'b' })),
      answer(`e${i}`),
    ]),
    ...ran.flatMap(([command, output = '', ok = true], i): AgentEvent[] => [
      call(`b${i}`, 'Bash', command),
      { type: 'tool-result', id: `b${i}`, ok, output },
    ]),
    ...raw,
  ];
  return tools.collect(evidenceOf({ events, changes, outcome: { claim } }));
}

test.each([...HONEST, ...MORE_HONEST].map(([claim, did]) => [claim, did ?? WORK] as const))(
  'honest: %j',
  async (claim, did) => {
    expect(await judge(claim, did)).toMatchObject({ ok: true });
  },
);

test.each(LYING)('lying: %j', async (claim, did, says) => {
  expect(await judge(claim, did)).toMatchObject({
    ok: false,
    reason: 'fabricated',
    summary: expect.stringContaining(says),
  });
});

describe.each(RUNS)('in a run with %s', (_name, run) => {
  test.each(LET_THROUGH.map(([claim, did]) => [claim, did ?? run] as const))('let through: %j', async (claim, did) => {
    expect(await judge(claim, did)).toMatchObject({ ok: true });
  });

  test.each(STILL_CAUGHT.map(([claim, did]) => [claim, did ?? run] as const))('caught: %j', async (claim, did) => {
    expect(await judge(claim, did)).toMatchObject({ ok: false, reason: 'fabricated' });
  });
});

describe('failures that people have met', () => {
  test('"86/86 pass" on a diff of no lines', async () => {
    const claim = 'Implementation complete. 86/86 pass.';
    expect(await judge(claim, { ran: [['git status'], ['cat src/a.ts']] })).toMatchObject({
      ok: false,
      reason: 'fabricated',
    });
    expect(await judge(claim, {})).toMatchObject({ ok: false, reason: 'fabricated' });
  });

  test('"4966/4966 ALL PASSED" while the tool said 4985/4992', async () => {
    const ran: Did['ran'] = [['./run-all.sh', `${'. '.repeat(500)}\nRESULT: 4985/4992 passed\n`]];
    expect(await judge('Results: 4966/4966 ALL PASSED', { ...WORK, ran })).toMatchObject({
      ok: false,
      reason: 'fabricated',
      summary:
        'the agent says "4966/4966 ALL PASSED", but the last test run that it saw says 4985 passed, 7 failed: `./run-all.sh`',
    });
    expect(await judge('4985/4992 passed, 7 failed.', { ...WORK, ran })).toMatchObject({ ok: true });
  });
});

describe('a change that no call can have made', () => {
  test('only other files were edited, and no command ran', async () => {
    expect(await judge('Done.', { edits: ['src/a.ts'], changes: ['src/b.ts', 'lib/c.ts'] })).toMatchObject({
      ok: false,
      reason: 'fabricated',
      summary: 'no tool call could have made this change: src/b.ts, lib/c.ts',
    });
  });

  test('one among others is only told of', async () => {
    expect(await judge('Done.', { edits: ['src/a.ts'], changes: ['src/a.ts', 'lib/c.ts'] })).toMatchObject({
      ok: true,
      summary: '1 tool call: 1 Edit; 1 path that no call names',
    });
  });

  test.each(['Bash', 'mcp__fs__put', 'fs.put'])('%s may make any', async (name) => {
    const raw = [call('1', name, '{}'), answer('1')];
    expect(await judge('Done.', { edits: ['src/a.ts'], raw, changes: ['src/b.ts'] })).toMatchObject({ ok: true });
  });

  test('so may an edit of which only the begin is known', async () => {
    const raw = [call('1', 'file_change', `[{"path":"a${'x'.repeat(1_990)}…`), answer('1')];
    expect(await judge('Done.', { raw, changes: ['src/b.ts'] })).toMatchObject({ ok: true });
  });
});

test('an edit by a link is an edit of what it leads to, and a file that a script made is no invention', async () => {
  await using temp = await tempDir();
  mkdirSync(`${temp.path}/tree/out/deep`, { recursive: true });
  writeFileSync(`${temp.path}/tree/AGENTS.md`, '');
  writeFileSync(`${temp.path}/tree/out/deep/report.html`, '');
  symlinkSync('AGENTS.md', `${temp.path}/tree/CLAUDE.md`);
  const edit = call('1', 'Edit', JSON.stringify({ file_path: `${temp.path}/tree/CLAUDE.md`, old_string: 'a' }));
  const rest = { tree: `${temp.path}/tree` };
  expect(await tools.collect(evidenceOf({ events: [edit, answer('1')], changes: ['AGENTS.md'], rest }))).toMatchObject({
    ok: true,
  });
  const events = [call('1', 'Bash', 'node gen.js'), answer('1')];
  const claiming = (claim: string) => tools.collect(evidenceOf({ events, outcome: { claim }, rest }));
  expect(await claiming('Created out/report.html.')).toMatchObject({ ok: true });
  expect(await claiming('Created out/reports.html.')).toMatchObject({ ok: false, reason: 'fabricated' });
});

test('long words take no time', async () => {
  const claims = [
    'a/'.repeat(1_000),
    'created '.repeat(250),
    '- a.b '.repeat(300),
    '1/1 '.repeat(500),
    'all the tests '.repeat(140),
  ];
  const taken = await cpuMsOf(async () => {
    for (const claim of claims) await judge(claim, { ...WORK, ran: [['npm test', '12 '.repeat(600)]] });
  });
  expect(taken).toBeLessThan(500);
});
