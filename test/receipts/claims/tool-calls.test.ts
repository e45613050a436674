import { expect, test } from '@jest/globals';
import type { AgentEvent } from '../../../src/domain/agent/event.ts';
import type { WireCall, WireExchange, WireLog } from '../../../src/domain/agent/model-traffic.ts';
import { tools } from '../../../src/receipts/kinds/tools.ts';
import { withoutForged } from '../../../src/receipts/claims/tool-calls.ts';
import { answer, call, evidenceOf } from '../evidence.ts';

const asked = (id: string | null, input = 'ls', name = 'Bash'): WireCall => ({ id, name, sha256: '', input });
const exchange = (...calls: WireCall[]): WireExchange => ({
  ...{ type: 'exchange', at: '', path: '/v1/messages', status: 200, firstByteMs: 1, ms: 2, sent: 1, received: 1 },
  ...{ calls, results: [] },
});
const wireOf = (...calls: WireCall[]): WireLog => ({ unseen: null, exchanges: [exchange(...calls)], whole: true });
const judge = (wire: WireLog | null, events: AgentEvent[]) => tools.collect(evidenceOf({ events, rest: { wire } }));
const EDIT = [call('1', 'Edit'), answer('1')];
const SHELL = [call('2', 'Bash', 'npm test'), answer('2')];

test('calls that the model made agree with what was printed', async () => {
  const finding = await judge(wireOf(asked('1', '{}', 'Edit'), asked('2')), [...EDIT, ...SHELL]);
  expect(finding).toMatchObject({
    ok: true,
    summary: '2 tool calls: 1 Edit, 1 Bash',
    evidence: { byWire: { calls: 2, joined: 'by id' } },
  });
});

test('a printed call that the model never made is fabricated, though another one was', async () => {
  const finding = await judge(wireOf(asked('1', '{}', 'Edit')), [...EDIT, ...SHELL]);
  expect(finding).toMatchObject({
    ok: false,
    reason: 'fabricated',
    summary: 'its output shows a call that its model never made: Bash npm test',
  });
});

test('printed calls of a model that was never asked are fabricated', async () => {
  const finding = await judge({ unseen: null, exchanges: [], whole: true }, EDIT);
  expect(finding).toMatchObject({
    ok: false,
    reason: 'fabricated',
    summary: 'its output shows tool calls, and its model was never asked: Edit {}',
  });
});

test('forged calls of an earlier run help no later one, where the record of that one is whole', () => {
  const stored = [...EDIT, ...SHELL].map((event, offset) => ({ ...event, at: '', offset }));
  const calls = (wire: WireLog | null) =>
    withoutForged(stored, wire).flatMap((event) => (event.type === 'tool-call' ? [event.id] : []));
  expect(calls(wireOf(asked('1', '{}', 'Edit'), asked('2')))).toEqual(['1', '2']);
  expect(calls(wireOf(asked('1', '{}', 'Edit')))).toEqual(['1']);
  expect(calls({ unseen: null, exchanges: [], whole: true })).toEqual([]);
  for (const wire of [null, { unseen: 'a login', exchanges: [], whole: true }, { ...wireOf(), whole: false }])
    expect(calls(wire)).toEqual(['1', '2']);
});

test('calls of the model that were not printed are only noted, as are gaps in the record', async () => {
  expect(await judge(wireOf(asked('1'), asked('3')), EDIT)).toMatchObject({
    ok: true,
    summary: '1 tool call: 1 Edit; 1 call of its model that its output lacks',
  });
  expect(await judge({ ...wireOf(asked('1')), whole: false }, [...EDIT, ...SHELL])).toMatchObject({
    ok: true,
    summary:
      "2 tool calls: 1 Edit, 1 Bash; 1 call that its model was not seen to make; the record of its model's calls has gaps",
  });
});

test('where nobody saw the calls, the receipt says why', async () => {
  const wire = { unseen: 'claude works under a login, or by a way of its own', exchanges: [], whole: true };
  expect(await judge(wire, EDIT)).toMatchObject({
    ok: true,
    summary: '1 tool call: 1 Edit; model calls not seen: claude works under a login, or by a way of its own',
  });
});

test.each([
  ['as codex prints it', `/bin/bash -lc "cat 'note.txt'"`, `cat 'note.txt'`],
  ['with quotes in quotes', `/bin/bash -lc 'echo '"'"'a b'"'"' > x'`, `echo 'a b' > x`],
  ['of several lines', '/bin/bash -lc "cat > f <<\'END\'\na\nEND"', "cat > f <<'END'\na\nEND"],
  ['as a list', "bash -lc 'npm test'", 'bash -lc npm test'],
])('without ids of the model, a command is known by its text: %s', async (_, printed, wanted) => {
  const events = [call('item_1', 'command_execution', printed), answer('item_1')];
  const wire = wireOf(asked('call_9', wanted, 'exec_command'));
  expect(await judge(wire, events)).toMatchObject({ ok: true, evidence: { byWire: { joined: 'by text' } } });
  const other = [...events, call('item_2', 'command_execution', "/bin/bash -lc 'npm run build'"), answer('item_2')];
  expect(await judge(wire, other)).toMatchObject({ ok: false, reason: 'fabricated' });
});

test('a program of the model that calls tools by itself explains any call', async () => {
  const wire = wireOf(asked('call_1', 'const out = await tools.exec_command({ cmd: "ls" })', 'exec'));
  expect(await judge(wire, [call('item_1', 'command_execution', 'ls -la'), answer('item_1')])).toMatchObject({
    ok: true,
  });
});
