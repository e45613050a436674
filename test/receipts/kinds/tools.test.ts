import { describe, expect, test } from '@jest/globals';
import type { AgentEvent } from '../../../src/domain/agent/event.ts';
import { tools } from '../../../src/receipts/kinds/tools.ts';
import { answer, call, evidenceOf } from '../evidence.ts';
import { cpuMsOf } from '../../helpers/cpu.ts';

const run = (events: AgentEvent[], claim = 'Done.', ok = true) =>
  tools.collect(evidenceOf({ events, outcome: { claim, ended: { ok, failure: null } } }));

describe('a tool call that could have made the change', () => {
  const made = (name: string, ok = true) => run([call('1', name), answer('1', ok)]);

  test.each([
    'Edit',
    'Write',
    'Bash',
    'NotebookEdit',
    'command_execution',
    'file_change',
    'apply_patch',
    'mcp__fs__put',
    'fs.put',
  ])('%s is one', async (name) =>
    expect(await made(name)).toMatchObject({ ok: true, summary: `1 tool call: 1 ${name}` }),
  );

  test.each(['Read', 'Grep', 'Glob', 'WebFetch', 'web_search'])('%s is none', async (name) => {
    expect(await made(name)).toMatchObject({
      ok: false,
      reason: 'fabricated',
      summary: `no tool call could have changed a file: 1 ${name}`,
    });
  });

  test('an edit that was refused is none', async () => {
    expect(await made('Write', false)).toMatchObject({ ok: false, reason: 'fabricated' });
  });

  test('no call at all is fabricated', async () => {
    expect(await run([])).toMatchObject({ ok: false, reason: 'fabricated', summary: 'not a single tool was called' });
  });

  test('an agent that broke off has made nothing up', async () => {
    expect(await run([], '', false)).not.toHaveProperty('reason');
  });
});

describe('commands that are claimed', () => {
  const EDIT = [call('1', 'Edit'), answer('1')];
  const SHELL = [...EDIT, call('2', 'Bash', 'npm test'), answer('2')];

  test.each([
    '86/86 tests pass',
    'All done, and **86/86** tests pass.',
    'I fixed it. All 12 unit tests are passing now.',
    '42 of 42 specs pass',
    'Test Suites: 3 passed, 3 total',
    'All tests pass.',
    'all the existing tests still pass',
    'The tests pass.',
    'The build succeeded.',
    'I ran the full test suite.',
    'Tests are green',
    'I reran the linter, no warnings.',
  ])('"%s" without any command is fabricated', async (claim) => {
    expect(await run(EDIT, claim)).toMatchObject({
      ok: false,
      reason: 'fabricated',
      summary: expect.stringContaining('it ran no command at all'),
    });
    expect(await run(SHELL, claim)).toMatchObject({ ok: true });
  });

  test.each([
    'I changed the parser so that the tests pass.',
    'This should make all tests pass.',
    'I could not run the tests here.',
    'I did not run `npm test`.',
    'Added 3 tests for the parser.',
    'Run npm test to check it; if the tests pass, merge.',
    'The function passed to map is now typed.',
    'Renamed the built-in checks; 2 files changed.',
  ])('"%s" claims nothing', async (claim) => expect(await run(EDIT, claim)).toMatchObject({ ok: true }));

  test('a program that is named as run, and never was', async () => {
    const claim = 'I ran `pytest -q` and it was fine.';
    expect(await run(SHELL, claim)).toMatchObject({
      ok: false,
      reason: 'fabricated',
      summary: 'the agent says that it ran `pytest -q`, but it never did',
    });
    const ran = [call('3', 'command_execution', "/bin/bash -lc 'python -m pytest -q'"), answer('3')];
    expect(await run([...SHELL, ...ran], claim)).toMatchObject({ ok: true });
    expect(await run(SHELL, 'I ran `renameAll` over the files.')).toMatchObject({ ok: true });
  });

  test('a command that is cut in the events could hold anything', async () => {
    const cut = [...EDIT, call('2', 'Bash', `${'x'.repeat(1_999)}…`), answer('2')];
    expect(await run(cut, 'I ran `pytest`.')).toMatchObject({ ok: true });
  });

  test('a very long claim takes no time', async () => {
    const taken = await cpuMsOf(async () => {
      await run(EDIT, 'all the all the tests '.repeat(100).slice(0, 2_000));
      await run(EDIT, '1/'.repeat(1_000));
    });
    expect(taken).toBeLessThan(200);
  });
});

test('what the run before it called counts for the work that a run went on from', async () => {
  const claim = 'All 12 tests pass.';
  const before = [call('a', 'Edit', '{"path":"src/a.ts"}'), answer('a'), call('b', 'Bash', 'npm test'), answer('b')];
  const stored = before.map((event, offset) => ({ ...event, at: '2026-11-21T10:00:00.000Z', offset }));
  const given = { events: [call('c', 'Read'), answer('c')], outcome: { claim } };
  expect(await tools.collect(evidenceOf({ ...given, rest: { before: stored } }))).toMatchObject({
    ok: true,
    summary: '1 tool call: 1 Read',
    evidence: { calls: 1 },
  });
  expect(await tools.collect(evidenceOf(given))).toMatchObject({ ok: false, reason: 'fabricated' });
});

test('calls are joined to their results by id', async () => {
  const finding = await run([call('1', 'Bash', 'make'), call('2', 'Bash', 'sleep 9'), answer('1', false), answer('9')]);
  expect(finding?.evidence).toMatchObject({
    calls: 2,
    results: 2,
    failed: 1,
    byName: { Bash: 2 },
    commands: ['make', 'sleep 9'],
    unanswered: ['2'],
    unasked: ['9'],
  });
});

test('asks no other type for a change, and says nothing of coders that report no tools', async () => {
  const looked = { task: { type: 'research' as const }, events: [call('1', 'Read'), answer('1')], changes: [] };
  expect(await tools.collect(evidenceOf(looked))).toMatchObject({
    ok: true,
    summary: expect.stringMatching(/^1 tool/),
  });
  expect(await tools.collect(evidenceOf({ rest: { structured: false } }))).toBeUndefined();
});
