import { describe, expect, test } from '@jest/globals';
import { inRange, range } from '../../../src/domain/values/range.ts';
import { choicesOf, route, ruleFor, unmetRoutes, type Route } from '../../../src/domain/routing/route.ts';
import { factsOf, type TaskFacts } from '../../../src/domain/task/task-facts.ts';
import { taskInput } from '../../../src/domain/task/schema.ts';
import { readClass, triage, triageByRule } from '../../../src/domain/routing/triage.ts';

const rules = (...all: object[]): Route[] => all.map((one) => route.parse(one));
const facts = (over: Partial<TaskFacts> = {}): TaskFacts => ({
  ...factsOf(taskInput.parse({ objective: 'Ten chars.', repo: 'https://example.org/acme/app.git' }), 1),
  ...over,
});
const at = (when: object, over?: Partial<TaskFacts>) => ruleFor(rules({ when, model: 'm' }), facts(over)) !== undefined;

test.each([
  ['3', 3, true],
  ['3', 4, false],
  ['<20', 19, true],
  ['<20', 20, false],
  ['<= 20', 20, true],
  ['>1', 1, false],
  ['>1', 2, true],
  ['>=3', 3, true],
  ['2-4', 4, true],
  ['2-4', 5, false],
])('%s holds %i: %s', (text, value, holds) => expect(inRange(range.parse(text), value)).toBe(holds));

test('a range that holds nothing, or is none, is refused', () => {
  expect(range.safeParse('4-2').success).toBe(false);
  expect(range.safeParse('low').success).toBe(false);
  expect(range.parse(7)).toBe('7');
});

describe('a rule matches', () => {
  test('where all that it asks for holds, a list where any of it does', () => {
    expect(at({})).toBe(true);
    expect(at({ type: 'code', queue: ['a', 'fleet'], priority: '>=50', size: 10, attempt: 1 })).toBe(true);
    expect(at({ type: 'research' })).toBe(false);
    expect(at({ labels: ['x', 'y'] }, { labels: ['y'] })).toBe(true);
    expect(at({ labels: 'x' })).toBe(false);
    expect(at({ type: 'code', attempt: '>1' })).toBe(false);
    expect(at({ repo: '*/acme/*' })).toBe(true);
    expect(at({ repo: '*' }, { repo: null })).toBe(false);
  });

  test('and the first counts', () => {
    const found = ruleFor(rules({ when: { attempt: 2 }, model: 'a' }, { model: 'b' }, { model: 'c' }), facts());
    expect(found).toMatchObject({ index: 1, rule: { model: 'b' } });
  });

  test('by class only where it comes to that', () => {
    const all = rules(
      { when: { labels: 'x' }, model: 'a' },
      { when: { class: 'simple', type: 'code' }, model: 'b' },
      { model: 'c' },
    );
    expect(ruleFor(all, facts({ labels: ['x'] }))).toMatchObject({ index: 0 });
    expect(ruleFor(all, facts({ type: 'research' }))).toMatchObject({ index: 2 });
    expect(ruleFor(all, facts())).toBe('triage');
    expect(ruleFor(all, facts({ class: 'simple' }))).toMatchObject({ index: 1 });
    expect(ruleFor(all, facts({ class: 'code' }))).toMatchObject({ index: 2 });
  });
});

describe('what a rule comes to', () => {
  const [rule] = rules({ name: 'r', coder: ['a', 'b:m2'], model: 'm1', credential: 'k', limits: { tokens: 5 } });
  const of = (pins: object, one: Route | undefined = rule) => choicesOf(pins, { rule: one, index: 3, fallback: 'f' });

  test('its coders in their order, a model of their own first', () => {
    const rest = { credential: 'k', limits: { tokens: 5 }, rule: 'routes[3] (r)' };
    expect(of({})).toEqual([
      { coder: 'a', model: 'm1', ...rest },
      { coder: 'b', model: 'm2', ...rest },
    ]);
  });

  test("the task's coder and model win, and another coder gets nothing but the limits", () => {
    expect(of({ coder: 'b' })).toMatchObject([{ coder: 'b', model: 'm2', credential: 'k' }]);
    expect(of({ coder: 'z' })).toEqual([{ coder: 'z', limits: { tokens: 5 }, rule: 'routes[3] (r)' }]);
    expect(of({ model: 'mine' }).map(({ model }) => model)).toEqual(['mine', 'mine']);
    expect(choicesOf({ coder: 'z', model: 'n' }, { rule: rules({ coder: 'a' })[0], index: 0, fallback: 'f' })).toEqual([
      { coder: 'z', model: 'n' },
    ]);
  });

  test('a rule without coders is for whichever it is; no rule leaves the default', () => {
    expect(of({}, rules({ model: 'x' })[0])).toEqual([{ coder: 'f', model: 'x', rule: 'routes[3]' }]);
    expect(choicesOf({}, { rule: undefined, index: 0, fallback: 'f' })).toEqual([{ coder: 'f' }]);
    expect(choicesOf({}, { rule: undefined, index: 0, fallback: undefined })).toEqual([]);
  });
});

test('rules that lead to nobody', () => {
  const all = rules({ coder: ['a', 'b'] }, { name: 'x', coder: ['c:m', 'd'] }, { model: 'm' });
  expect(unmetRoutes(all, new Set(['b']))).toEqual(['routes[1] (x) leads to coders c, d']);
});

test('triage: rules, then the command, then the default', () => {
  const parsed = triage.parse({ rules: [{ when: { size: '<5' }, class: 'simple' }], default: 'complex' });
  expect(triageByRule(parsed, facts({ size: 3 }))).toEqual({ class: 'simple', by: 'triage.rules[0]' });
  expect(triageByRule(parsed, facts())).toEqual({ class: 'complex', by: 'triage.default' });
  expect(triageByRule({ ...parsed, command: ['x'] }, facts())).toBe('ask');
  expect(readClass('thinking…\n Simple \n\n', parsed.classes)).toBe('simple');
  expect(readClass('it is simple', parsed.classes)).toBeUndefined();
  expect(readClass('', parsed.classes)).toBeUndefined();
});
