import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit, Turn } from '../../domain/evidence/test-source.ts';
import type { Bindings } from './javascript-bindings.ts';
import { chaiEdits, jestEdits, type Chain } from './javascript-matchers.ts';
import { children, DEPTH_MAX, field, findAll, insert, shortText, turn, wrap } from './nodes.ts';

interface Context {
  bindings: Bindings;
  /** The name that `helperCode` defines. */
  helper: string;
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
  if (body?.type !== 'statement_block')
    return body ? inExpression(body, { ...context, sure: true, returned: true }) : [];
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
          turns.push(...inExpression(expression, { ...context, sure: runs, returned }));
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

function inExpression(expression: Node, context: Context & { sure: boolean; returned: boolean }): Turn[] {
  const awaited = expression.type === 'await_expression';
  const chain = chainOf(awaited ? children(expression)[0]! : expression);
  if (!chain) return [];
  const { bindings, helper, sure, returned } = context;
  const isExpect = chain.root.type === 'call_expression' && bindings.isExpect(shortText(field(chain.root, 'function')));
  const waits = awaited || returned;
  if (isExpect || chain.links[0]?.name === 'should') {
    const chai = !isExpect || chain.links.some(({ name }) => /^(to|be|have|is|deep)$/.test(name));
    const edits = chai ? chaiEdits(chain, helper) : jestEdits(chain, helper);
    const later = chain.links.some(({ name }) => name === 'resolves' || name === 'rejects');
    // Nobody waits for it: it would fail some other test.
    return edits && (waits || !later) ? [turn(edits, sure)] : [];
  }
  const last = chain.links.at(-1);
  const members = chain.links.map(({ name }) => name);
  const called = last ? last.args : field(chain.call, 'arguments');
  const base = chain.root.type === 'identifier' ? chain.root : null;
  const assertion = base && bindings.assertion(base.text, members);
  if (!assertion || !called || chain.links.slice(0, -1).some(({ args }) => args !== null)) return [];
  const edits = assertion === 'rejects' && !waits ? null : inAssertion(assertion, called, helper);
  return edits ? [turn(edits, sure)] : [];
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
const NOT_EQUAL = /^not(Equal|StrictEqual|DeepEqual|DeepStrictEqual)$/;

/** node:assert and chai's `assert`. */
function inAssertion(name: string, args: Node, helper: string): Edit[] | null {
  const [first, second] = children(args);
  if (!first || children(args).some(({ type }) => type === 'spread_element')) return null;
  if (/^(assert|ok|isTrue|isFalse|isOk)$/.test(name)) return wrap(first, '!(', ')');
  if (EQUAL.test(name)) return second ? wrap(expectedOf(first, second), `${helper}.turn(`, ')') : null;
  // A value equals itself.
  if (NOT_EQUAL.test(name))
    return second
      ? [insert(first.startIndex, `...${helper}.twice(`), { start: first.endIndex, end: second.endIndex, text: ')' }]
      : null;
  if (name === 'doesNotThrow') return wrap(first, `${helper}.throwing(`, ')');
  if (name === 'throws' || name === 'rejects')
    return second ? wrap(second, `${helper}.error(`, ')') : [insert(first.endIndex, `, ${helper}.error()`)];
  if (name === 'match' || name === 'doesNotMatch')
    return second?.type === 'regex'
      ? [{ start: second.startIndex, end: second.endIndex, text: name === 'match' ? '/(?!)/' : '/(?:)/' }]
      : null;
  return null;
}

/** The operand that is written by the author: a literal, rather than a call. */
const expectedOf = (left: Node, right: Node): Node => (rank(left) > rank(right) ? left : right);

const LITERAL = /^(number|string|template_string|true|false|null|undefined|array|object|unary_expression|regex)$/;

function rank(node: Node): number {
  if (LITERAL.test(node.type)) return 2;
  return /expect|want/i.test(shortText(node)) ? 1 : 0;
}

/** One line that defines `helper`: `turn` gives another value of the same kind, `error` a class of errors that nobody throws. */
export function helperCode(helper: string, typed: boolean): string {
  const any = typed ? ': any' : '';
  const pair = typed ? ': [any, any]' : '';
  const functions = [
    `turn(v${any})${any} { switch (typeof v) { case 'boolean': return !v; case 'number': return v + 1 === v || v !== v ? 0 : v + 1; case 'bigint': return v + BigInt(1); case 'string': return v + 'x'; case 'object': if (Array.isArray(v)) return [...v, '${helper}']; if (v !== null && (Object.getPrototypeOf(v) === Object.prototype || Object.getPrototypeOf(v) === null)) return { ...v, ${helper}: 1 }; } return '${helper}'; }`,
    `twice(v${any})${pair} { return [v, v]; }`,
    `error(_v${typed ? '?: any' : ''})${any} { return class extends Error {}; }`,
    `throwing(f${any})${any} { return () => { f(); throw new Error(); }; }`,
  ];
  return `const ${helper}${any} = { ${functions.join(', ')} }; void ${helper};`;
}
