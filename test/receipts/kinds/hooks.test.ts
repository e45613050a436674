import { expect, test } from '@jest/globals';
import type { AgentEvent, HookCall, HookLog } from '../../../src/domain/agent/event.ts';
import { tools } from '../../../src/receipts/kinds/tools.ts';
import { answer, call, evidenceOf, type Given } from '../evidence.ts';
import { cpuMsOf } from '../../helpers/cpu.ts';

const hook = (id: string, phase: HookCall['phase'] = 'pre'): HookCall => {
  return { phase, id, name: 'Bash', sha256: '0'.repeat(64), input: 'make' };
};
const both = (...ids: string[]): HookCall[] => ids.flatMap((id) => [hook(id), hook(id, 'post')]);
const done = (...ids: string[]): AgentEvent[] => ids.flatMap((id) => [call(id, 'Bash', `make ${id}`), answer(id)]);
const judge = (
  events: AgentEvent[],
  calls: HookCall[],
  { log = {}, ...rest }: Given & { log?: Partial<HookLog> } = {},
) => tools.collect(evidenceOf({ ...rest, events, rest: { hooks: { calls, garbage: 0, whole: true, ...log } } }));
const FORGED = { ok: false, reason: 'fabricated', summary: expect.stringContaining('did not see: Bash make x') };

test('calls that both records show are fine', async () => {
  const finding = await judge(done('a', 'b'), both('a', 'b'));
  expect(finding).toMatchObject({ ok: true, summary: '2 tool calls: 2 Bash', evidence: { byHooks: { hooks: 2 } } });
});

test('a call that was written into the output from within another one is forged', async () => {
  const events = [call('a', 'Bash', 'forge'), ...done('x'), answer('a')];
  expect(await judge(events, both('a'))).toMatchObject(FORGED);
  expect(await judge([...done('a', 'x'), ...done('b')], both('a', 'b'))).toMatchObject(FORGED);
});

test('one hook of two is enough', async () => {
  expect(await judge(done('a', 'x', 'b'), [...both('a'), hook('x', 'post'), ...both('b')])).toMatchObject({
    ok: true,
    summary: expect.stringContaining('1 call that ended before it began'),
  });
  expect(await judge(done('a', 'x', 'b'), [...both('a'), hook('x'), ...both('b')])).toMatchObject({ ok: true });
});

test.each<[string, AgentEvent[], HookCall[], (Given & { log?: Partial<HookLog> })?]>([
  ['without any hook', done('x', 'b'), []],
  ['whose hooks went silent half way', done('a', 'x'), both('a')],
  ['with a call that was refused', [call('x', 'Bash'), answer('x', false), ...done('b')], both('b')],
  ['with a call that was never answered', [call('x', 'Bash'), ...done('b')], both('b')],
  ['whose coder gives its hooks other ids', done('item_1', 'item_2'), both('call_1', 'call_2')],
  ['with a sub-agent', done('a', 'b'), both('a', 's1', 's2', 'b')],
  ['that ran out of processes', done('x', 'b'), both('b'), { outcome: { outOfProcesses: true } }],
  ['that ran out of memory', done('x', 'b'), both('b'), { outcome: { outOfMemory: true } }],
  ['with more hooks than are kept', done('x', 'b'), both('b'), { log: { whole: false } }],
  ['with lines of somebody else', done('b'), both('b'), { log: { garbage: 3 } }],
])('a run %s is not rejected for it', async (...row) => {
  const [, events, hooks, given = {}] = row;
  expect(await judge(events, hooks, given)).toMatchObject({ ok: true });
});

test('says what is odd', async () => {
  const finding = await judge(done('a', 'x'), both('a', 's'), { log: { garbage: 2 } });
  expect(finding?.summary).toBe(
    "2 tool calls: 2 Bash; 1 call that no hook saw; 1 call that only hooks saw; 2 lines among the hooks' that no hook wrote",
  );
});

test('many calls take no time', async () => {
  const ids = Array.from({ length: 5_000 }, (_, i) => `c${i}`);
  expect(await cpuMsOf(() => judge(done(...ids), both(...ids.slice(0, 100))))).toBeLessThan(1_000);
});
