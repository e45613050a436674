import type { Node } from '@vscode/tree-sitter-wasm';
import type { Turn } from '../../../domain/evidence/test-source.ts';
import type { Bindings } from './bindings.ts';
import { changesOf, expectedOf, negated, type Change, type Helper } from './changes.ts';
import { inHelper, type Helpers } from './helpers.ts';
import { chaiEdits, jestEdits, type Chain } from './matchers.ts';
import { changeRegex } from '../shared/literals.ts';
import { children, DEPTH_MAX, field, findAll, insert, replace, shortText, turn, type Turned } from '../shared/nodes.ts';

interface Context {
  bindings: Bindings;
  helper: Helper;
  /** What a test may call: functions of the file. */
  functions: Helpers;
}

const FUNCTIONS = new Set([
  'arrow_function',
  'function_expression',
  'function_declaration',
  'method_definition',
  'class_declaration',
]);
const EARLY_END = new Set([
  'return_statement',
  'break_statement',
  'continue_statement',
  'throw_statement',
  'call_expression',
]);
const NESTED =
  /^(statement_block|if_statement|else_clause|for_statement|for_in_statement|while_statement|do_statement|try_statement|catch_clause|finally_clause|switch_statement|switch_body|switch_case|switch_default)$/;

/** Each assertion of a test's function that can be turned wrong. */
export function javascriptTurns(test: Node, context: Context): Turn[] {
  const turns: Turn[] = [];
  const body = field(test, 'body');
  if (!body) return [];
  const change = changesOf(context.helper, body);
  if (body.type !== 'statement_block') return inExpression(body, { ...context, change, sure: true, returned: true });
  const sure = !/^(async\s+)?(function\s*)?\*/.test(test.text.slice(0, 40));
  const left = [{ block: body, sure, depth: 0 }];
  while (left.length > 0) {
    const next = left.shift()!;
    let { sure: runs } = next;
    if (next.depth > DEPTH_MAX) continue;
    for (const statement of children(next.block)) {
      if (statement.type === 'expression_statement' || statement.type === 'return_statement') {
        const [expression] = children(statement);
        const returned = statement.type === 'return_statement';
        if (expression) {
          turns.push(...inExpression(expression, { ...context, change, sure: runs, returned }));
          left.push(
            ...callbacksOf(expression, returned).map((callback) => ({
              block: callback.block,
              sure: runs && callback.runs,
              depth: next.depth + 1,
            })),
          );
        }
      } else if (NESTED.test(statement.type)) {
        const loop =
          statement.type === 'for_in_statement' && isFilledList(field(statement, 'right')) && isOf(statement);
        const always = statement.type === 'statement_block' || loop;
        left.push({
          block: loop && field(statement, 'body')!.type === 'statement_block' ? field(statement, 'body')! : statement,
          sure: runs && always,
          depth: next.depth + 1,
        });
      }
      if (mayEnd(statement)) runs = false;
    }
  }
  return turns;
}

const isFilledList = (node: Node | null): boolean =>
  node?.type === 'array' && children(node).some(({ type }) => type !== 'spread_element');

const isOf = (statement: Node): boolean => field(statement, 'operator')?.text === 'of';

const SYNC = /^(forEach|map|flatMap|filter|every|some|reduce)$/;

/** The functions that a call is given, and that have run when it has ended. One of `[…].forEach` runs. */
function callbacksOf(expression: Node, returned: boolean): { block: Node; runs: boolean }[] {
  const awaited = expression.type === 'await_expression';
  const call = awaited ? children(expression)[0]! : expression;
  const callee = field(call, 'function');
  if (call.type !== 'call_expression' || callee?.type !== 'member_expression') return [];
  const method = shortText(field(callee, 'property'));
  const runs = method === 'forEach' && isFilledList(field(callee, 'object'));
  return children(field(call, 'arguments')).flatMap((argument) => {
    const block = FUNCTIONS.has(argument.type) ? field(argument, 'body') : null;
    const ends = awaited || returned || (SYNC.test(method) && !argument.text.slice(0, 10).startsWith('async'));
    return block?.type === 'statement_block' && ends ? [{ block, runs }] : [];
  });
}

/** Whether the test can end here, and pass. */
function mayEnd(statement: Node): boolean {
  if (FUNCTIONS.has(statement.type)) return false;
  return findAll(statement, EARLY_END, FUNCTIONS).some((found) => {
    if (found.type === 'call_expression')
      return /^([\w.]+\.)?(skip|todo|exit|abort)$/.test(shortText(field(found, 'function')));
    return found.type !== 'throw_statement' || found === statement;
  });
}

function inExpression(
  expression: Node,
  context: Context & { change: Change; sure: boolean; returned: boolean },
): Turn[] {
  const awaited = expression.type === 'await_expression';
  const chain = chainOf(awaited ? children(expression)[0]! : expression);
  if (!chain) return [];
  const { bindings, change, sure, returned } = context;
  const told = (turned: Turned | null) => (turned ? [turn(turned.edits, sure, turned.neutral)] : []);
  const isExpect = chain.root.type === 'call_expression' && bindings.isExpect(shortText(field(chain.root, 'function')));
  const waits = awaited || returned;
  if (isExpect || chain.links[0]?.name === 'should') {
    const chai = !isExpect || chain.links.some(({ name }) => /^(to|be|have|is|deep)$/.test(name));
    const later = chain.links.some(({ name }) => name === 'resolves' || name === 'rejects');
    // Nobody waits for it: it would fail some other test.
    return waits || !later ? told(chai ? chaiEdits(chain, change) : jestEdits(chain, change)) : [];
  }
  const last = chain.links.at(-1);
  const members = chain.links.map(({ name }) => name);
  const called = last ? last.args : field(chain.call, 'arguments');
  const base = chain.root.type === 'identifier' ? chain.root : null;
  const assertion = base && bindings.assertion(base.text, members);
  const own = base && chain.links.length === 0 ? context.functions.get(base.text) : undefined;
  if (own) {
    const edits = inHelper(chain.call, own, (checked) => comparedIn(checked, bindings));
    return edits ? told({ edits }) : [];
  }
  if (!assertion || !called || chain.links.slice(0, -1).some(({ args }) => args !== null)) return [];
  if (assertion === 'rejects' && !waits) return [];
  return told(inAssertion(assertion, called, { change, member: field(last?.node ?? null, 'property') }));
}

/** Both sides of an equality that an expression of a helper checks, the expected one first. */
function comparedIn(expression: Node, bindings: Bindings): readonly Node[] {
  const chain = chainOf(expression);
  if (!chain) return [];
  const { root, links } = chain;
  const last = links.at(-1);
  const [first, second] = children(last ? last.args : field(chain.call, 'arguments'));
  if (root.type === 'call_expression' && bindings.isExpect(shortText(field(root, 'function')))) {
    const words = links.slice(0, -1).every(({ name, args }) => /^(to|be|deep)$/.test(name) && !args);
    const [actual] = children(field(root, 'arguments'));
    return words && last?.args && EQUALS.test(last.name) && first && actual ? [first, actual] : [];
  }
  if (root.type !== 'identifier' || links.slice(0, -1).some(({ args }) => args !== null)) return [];
  const assertion = bindings.assertion(
    root.text,
    links.map(({ name }) => name),
  );
  return assertion && EQUAL.test(assertion) && first && second ? [second, first] : [];
}

/** `expect(x).not.toBe(1)`: what it begins with, and its members; null for another expression. */
function chainOf(expression: Node): Chain | null {
  const links: Chain['links'] = [];
  let node: Node | null = expression;
  let args: Node | null = null;
  while (node) {
    if (node.type === 'call_expression') {
      const callee: Node | null = field(node, 'function');
      if (callee?.type !== 'member_expression') {
        // `expect(x)` with members, or `strictEqual(a, b)` without.
        if (callee?.type !== 'identifier' || args) return null;
        return { root: links.length > 0 ? node : callee, call: node, links: links.toReversed() };
      }
      args = field(node, 'arguments');
      node = callee;
    } else if (node.type === 'member_expression') {
      links.push({ node, name: shortText(field(node, 'property')), args });
      args = null;
      node = field(node, 'object');
    } else return links.length > 0 ? { root: node, call: expression, links: links.toReversed() } : null;
  }
  return null;
}

const EQUAL = /^(partialDeepStrictEqual|equal|strictEqual|deepEqual|deepStrictEqual|lengthOf|eql)$/;
const EQUALS = /^(toBe|toEqual|toStrictEqual|equal|equals|eq|eql)$/;
const NOT_EQUAL = /^not(Equal|StrictEqual|DeepEqual|DeepStrictEqual)$/;
const OPPOSITE: Record<string, string> = {
  doesNotThrow: 'throws',
  throws: 'doesNotThrow',
  rejects: 'doesNotReject',
  match: 'doesNotMatch',
  doesNotMatch: 'match',
};

/** node:assert and chai's `assert`; `member`: the name behind its dot, null where it is a function of that name. */
function inAssertion(
  name: string,
  args: Node,
  { change, member }: { change: Change; member: Node | null },
): Turned | null {
  const [first, second] = children(args);
  if (!first || children(args).some(({ type }) => type === 'spread_element')) return null;
  if (/^(assert|ok|isTrue|isFalse|isOk)$/.test(name)) return negated(first);
  if (EQUAL.test(name)) return second ? change.value(expectedOf(first, second)) : null;
  const renamed = (other: string) => (member?.text === name ? { edits: [replace(member, other)] } : null);
  if (NOT_EQUAL.test(name)) {
    if (!second) return null;
    const other = name.replace(/^not(.)/, (_, letter: string) => letter.toLowerCase());
    // A value equals itself.
    return renamed(other) ?? change.called('twice', first, { until: second });
  }
  if (name === 'doesNotThrow') return renamed('throws') ?? change.called('throwing', first);
  if (name === 'throws' || name === 'rejects')
    return (
      (second && change.error(second)) ??
      renamed(OPPOSITE[name]!) ??
      (second ? change.called('error', second) : { edits: [insert(first.endIndex, ', EvalError')] })
    );
  if (name !== 'match' && name !== 'doesNotMatch') return null;
  const regex = name === 'match' && second?.type === 'regex' ? changeRegex(second) : null;
  return regex ? { edits: regex } : renamed(OPPOSITE[name]!);
}
