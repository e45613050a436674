import { describe, expect, test } from '@jest/globals';
import { PROTOCOLS } from '../../src/coders/registry.ts';
import { addUsage, NO_USAGE, type AgentEvent, type CoderFailure } from '../../src/domain/agent/event.ts';
import { only, recorded } from './recorded.ts';

/** What "supports a protocol" means: every protocol passes this on lines that its real programs printed. */

const ENDS: Record<string, CoderFailure | null> = {
  done: null,
  auth: 'auth',
  billing: 'auth',
  model: 'model-unknown',
  rate: 'rate-limited',
  quota: 'rate-limited',
  'subscription-limit': 'rate-limited',
  overloaded: 'overloaded',
  server: 'overloaded',
  offline: 'overloaded',
  overflow: 'context-overflow',
  'late-overflow': 'context-overflow',
};

const GARBAGE = [
  '',
  ' ',
  'plain text',
  'null',
  '[]',
  '{}',
  '3',
  '"text"',
  '{"type":null}',
  '{"type":{}}',
  '{"type":"result"',
  '\u0000',
];
const WRONG = [null, 7, -1, 'x', [], {}, [null], { a: [] }, true];
const HUGE = 'x'.repeat(10_000);

type Protocol = keyof typeof PROTOCOLS;
const read = (protocol: Protocol, lines: readonly string[], earlier?: AgentEvent[]): AgentEvent[] => {
  const parse = PROTOCOLS[protocol].parser(earlier);
  return lines.flatMap((line) => parse(line));
};
const usage = (events: readonly AgentEvent[]) => only(events, 'usage').reduce(addUsage, NO_USAGE);

/** The line's JSON with each value in turn replaced by `wrong`, at any depth. */
function* mutants(value: unknown, wrong: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    const put = (changed: unknown) =>
      Array.isArray(value) ? Object.assign([...value], { [key]: changed }) : { ...value, [key]: changed };
    yield put(wrong);
    for (const mutant of mutants(inner, wrong)) yield put(mutant);
  }
}

describe.each(Object.keys(PROTOCOLS) as Protocol[])('protocol %s', (protocol) => {
  const { structured } = PROTOCOLS[protocol];
  const scenarios = structured
    ? Object.entries(recorded(protocol))
    : [['any', ['{"type":"result"}', 'text']] as [string, string[]]];

  test('says nothing about lines that are not its own', () => {
    for (const line of GARBAGE) expect(read(protocol, [line])).toEqual([]);
  });

  test.each(scenarios)('%s: never throws, whatever is wrong with a line', (_scenario, lines) => {
    for (const line of lines) {
      const parse = PROTOCOLS[protocol].parser();
      for (const cut of [1, line.length >> 1, line.length - 1]) expect(parse(line.slice(0, cut))).toEqual([]);
      if (!line.startsWith('{')) continue;
      for (const wrong of WRONG) {
        for (const mutant of mutants(JSON.parse(line), wrong))
          expect(Array.isArray(parse(JSON.stringify(mutant)))).toBe(true);
      }
    }
  });

  test.each(scenarios)('%s: keeps every text small', (_scenario, lines) => {
    for (const line of lines.filter((each) => each.startsWith('{'))) {
      for (const mutant of mutants(JSON.parse(line), HUGE)) {
        for (const event of read(protocol, [JSON.stringify(mutant)])) {
          if (event.type === 'tool-call') expect(event.input.length).toBeLessThanOrEqual(2_000);
          if (event.type === 'tool-result') expect(event.output.length).toBeLessThanOrEqual(2_000);
          if (event.type === 'text' || event.type === 'ended') expect(event.text.length).toBeLessThanOrEqual(4_000);
          expect(JSON.stringify(event).length).toBeLessThan(5_000);
        }
      }
    }
  });

  if (!structured) {
    test('means nothing by what it prints', () =>
      expect(read(protocol, ['{"type":"result","subtype":"success"}'])).toEqual([]));
    return;
  }

  test('every scenario has an expected end', () => {
    expect(scenarios.map(([name]) => name).filter((name) => !(name in ENDS))).toEqual([]);
  });

  test.each(scenarios)('%s: starts once, joins results to calls, ends once and last', (scenario, lines) => {
    const events = read(protocol, lines);
    expect(only(events, 'started')).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: 'started', session: expect.stringMatching(/^[\w-]{8,}$/) });
    const calls = only(events, 'tool-call').map(({ id }) => id);
    expect(new Set(calls).size).toBe(calls.length);
    expect(only(events, 'tool-result').map(({ id }) => id)).toEqual(calls);
    expect(only(events, 'ended')).toHaveLength(1);
    const failure = ENDS[scenario];
    expect(events.at(-1)).toMatchObject(failure ? { type: 'ended', ok: false, failure } : { type: 'ended', ok: true });
    expect(only(events, 'waiting')).toEqual([]);
  });

  test.each(scenarios)('%s: read by two processes one after the other, it says the same', (_scenario, lines) => {
    const whole = read(protocol, lines);
    for (let cut = 0; cut <= lines.length; cut += 1) {
      const before = read(protocol, lines.slice(0, cut));
      const both = [...before, ...read(protocol, lines.slice(cut), before)];
      expect(both.filter(({ type }) => type !== 'usage')).toEqual(whole.filter(({ type }) => type !== 'usage'));
      // The middle of a message is counted twice until the end corrects it; without an end that corrects, it stays.
      if (only(whole, 'ended').some(({ ok }) => ok)) expect(roughly(usage(both))).toEqual(roughly(usage(whole)));
    }
  });
});

const roughly = ({ costUsd, ...tokens }: typeof NO_USAGE) => ({ ...tokens, costUsd: Number(costUsd.toFixed(6)) });
