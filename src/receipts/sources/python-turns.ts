import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit, Turn } from '../../domain/evidence/test-source.ts';
import { children, DEPTH_MAX, field, findAll, insert, replace, shortText, turn, wrap } from './nodes.ts';

/** Names that the turned source defines: a function that changes a value, an error that nobody raises, a number that equals none. */
export interface PythonHelpers {
  turned: string;
  error: string;
  nan: string;
}

interface Context {
  helpers: PythonHelpers;
  sure: boolean;
  /** A method of a class of unittest, whose assertions are its own. */
  unittest: boolean;
}

const EQUAL = new Set([
  'assertIs',
  ...['', 'List', 'Dict', 'Tuple', 'Set', 'Sequence', 'MultiLine', 'Count'].map((kind) => `assert${kind}Equal`),
]);
const OPPOSITES = [
  ['assertTrue', 'assertFalse'],
  ['assertIsNone', 'assertIsNotNone'],
  ['assertIn', 'assertNotIn'],
  ['assertIsInstance', 'assertNotIsInstance'],
  ['assertRegex', 'assertNotRegex'],
];
const OPPOSITE = new Map([
  ...OPPOSITES.flatMap(
    ([one, other]) =>
      [
        [one!, other!],
        [other!, one!],
      ] as [string, string][],
  ),
  ['assertNotEqual', 'assertEqual'],
  ['assertIsNot', 'assertIs'],
  ['assertNotAlmostEqual', 'assertAlmostEqual'],
]);
const COMPARISON: Record<string, string> = {
  assertGreater: '>',
  assertGreaterEqual: '>=',
  assertLess: '<',
  assertLessEqual: '<=',
};
const RAISES = /^(assertRaises|assertRaisesRegex|assertWarns|assertWarnsRegex|pytest\.raises|pytest\.warns|raises)$/;
/** Not caught, these end more than the test. */
const UNSAFE = /(?<!^System)(Skip|Exit|Interrupt|BaseException|outcomes)/;
/** A block of these runs, and lets an error through. */
const OPEN_CONTEXT =
  /(^|\.)(open|patch|patch\.object|patch\.dict|subTest|TemporaryDirectory|NamedTemporaryFile|catch_warnings|redirect_stdout|redirect_stderr)$/;
const EARLY_END = new Set(['return_statement', 'break_statement', 'continue_statement', 'raise_statement', 'call']);
const SCOPES = new Set(['function_definition', 'class_definition', 'lambda']);
const NESTED = /^(if|for|while|try|with|match)_statement$|_clause$|^block$/;

/** Each assertion of a test that can be turned wrong. */
export function pythonTurns(test: Node, context: Context): Turn[] {
  const self = shortText(children(field(test, 'parameters'))[0] ?? null);
  return inBlock(field(test, 'body'), { ...context, self });
}

type Within = Context & { self: string };

function inBlock(block: Node | null, context: Within): Turn[] {
  const turns: Turn[] = [];
  // Nested blocks, each with whether it is sure to run.
  const left = [{ block, sure: context.sure, depth: 0 }];
  while (left.length > 0) {
    const next = left.shift()!;
    let { sure } = next;
    if (next.depth > DEPTH_MAX) continue;
    for (const statement of children(next.block)) {
      const within = { ...context, sure };
      turns.push(...inStatement(statement, within));
      if (NESTED.test(statement.type))
        left.push(...blocksOf(statement, sure).map((inner) => ({ ...inner, depth: next.depth + 1 })));
      if (mayEnd(statement)) sure = false;
    }
  }
  return turns;
}

/** The blocks directly inside of a statement, and whether each runs whenever the statement is reached. */
function blocksOf(statement: Node, sure: boolean): { block: Node; sure: boolean }[] {
  const runs =
    (statement.type === 'with_statement' && itemsOf(statement).every(isOpenContext)) ||
    (statement.type === 'for_statement' && isFilledList(field(statement, 'right')));
  return children(statement).flatMap((child) => {
    if (child.type === 'block') return [{ block: child, sure: sure && runs }];
    return child.type.endsWith('_clause') && child.type !== 'with_clause' ? blocksOf(child, false) : [];
  });
}

const itemsOf = (statement: Node): Node[] =>
  children(children(statement).find(({ type }) => type === 'with_clause') ?? null).map((item) => {
    const value = field(item, 'value') ?? item;
    return value.type === 'as_pattern' ? children(value)[0]! : value;
  });

const isOpenContext = (item: Node): boolean =>
  item.type === 'call' && OPEN_CONTEXT.test(shortText(field(item, 'function')));

const isFilledList = (node: Node | null): boolean =>
  (node?.type === 'list' || node?.type === 'tuple') && children(node).some(({ type }) => type !== 'list_splat');

/** Whether the test can end here, and pass. */
function mayEnd(statement: Node): boolean {
  if (SCOPES.has(statement.type)) return false;
  return findAll(statement, EARLY_END, SCOPES).some((found) => {
    if (found.type === 'call')
      return /(^|\.)(skip|skipTest|xfail|importorskip|_exit)$/.test(shortText(field(found, 'function')));
    return found.type !== 'raise_statement' || found === statement || /Skip/.test(shortText(found));
  });
}

function inStatement(statement: Node, context: Within): Turn[] {
  const { sure } = context;
  if (statement.type === 'assert_statement') {
    const edits = inCondition(children(statement)[0]!, context);
    return edits ? [turn(edits, sure)] : [];
  }
  if (statement.type === 'with_statement')
    return itemsOf(statement).flatMap((item, index) => {
      const edits = item.type === 'call' ? inRaises(item, context) : null;
      return edits ? [turn(edits, sure && index === 0)] : [];
    });
  const call = children(statement)[0];
  if (statement.type !== 'expression_statement' || call?.type !== 'call') return [];
  const edits = (context.unittest ? inMethod(call, context) : null) ?? inRaisesCall(call, context);
  return edits ? [turn(edits, sure)] : [];
}

/** An equality gets another operand, everything else is negated. */
function inCondition(condition: Node, context: Within): Edit[] | null {
  const { turned } = context.helpers;
  if (condition.type === 'parenthesized_expression') return inCondition(children(condition)[0]!, context);
  if (condition.type === 'tuple') return null;
  if (condition.type === 'boolean_operator' && field(condition, 'operator')?.text === 'and')
    return inCondition(field(condition, 'left')!, context);
  const [left, right, more] = children(condition);
  const isEquality =
    condition.type === 'comparison_operator' && !more && left && right && field(condition, 'operators')?.text === '==';
  return isEquality ? wrap(expectedOf(left, right), `${turned}(`, ')') : wrap(condition, 'not (', ')');
}

function inMethod(call: Node, context: Within): Edit[] | null {
  const method = field(call, 'function');
  const name = field(method, 'attribute');
  if (method?.type !== 'attribute' || !name || shortText(field(method, 'object')) !== context.self) return null;
  const [first, second, ...more] = children(field(call, 'arguments'));
  if (!first || [first, second, ...more].some((one) => one && /splat|generator/.test(one.type))) return null;
  const two = second && first.type !== 'keyword_argument' && second.type !== 'keyword_argument';
  const { turned, nan } = context.helpers;
  if (EQUAL.has(name.text)) return two ? wrap(expectedOf(first, second), `${turned}(`, ')') : null;
  if (name.text === 'assertAlmostEqual') return two ? [replace(second, nan)] : null;
  const comparison = COMPARISON[name.text];
  if (comparison && two)
    return [
      replace(name, 'assertFalse'),
      insert(first.startIndex, '('),
      {
        start: first.endIndex,
        end: second.startIndex,
        text: `) ${comparison} (${'\n'.repeat(second.startPosition.row - first.endPosition.row)}`,
      },
      insert(second.endIndex, ')'),
    ];
  const opposite = OPPOSITE.get(name.text);
  return opposite ? [replace(name, opposite)] : null;
}

/** `raises(Error, …)`: the error becomes another one. */
function inRaises(call: Node, { helpers, self }: Within): Edit[] | null {
  const name = shortText(field(call, 'function'));
  const [error] = children(field(call, 'arguments'));
  if (!error || !RAISES.test(name.startsWith(`${self}.`) ? name.slice(self.length + 1) : name)) return null;
  const parts = error.type === 'tuple' ? children(error) : [error];
  const named = parts.every((part) => /^([\w]+\.)*[A-Z]\w*$/.test(shortText(part)) && !UNSAFE.test(part.text));
  return named ? [replace(error, helpers.error)] : null;
}

const inRaisesCall = (call: Node, context: Within): Edit[] | null =>
  children(field(call, 'arguments')).filter(({ type }) => type !== 'keyword_argument').length >= 2
    ? inRaises(call, context)
    : null;

/** The operand that is written by the author: a literal, rather than a call. A matcher is changed itself, as it may equal much. */
function expectedOf(left: Node, right: Node): Node {
  const [first, second] = [rank(left), rank(right)];
  return first > second ? left : right;
}

const LITERAL = /^(integer|float|string|concatenated_string|true|false|none|list|tuple|dictionary|set|unary_operator)$/;

function rank(node: Node): number {
  if (node.type === 'call') {
    const name = shortText(field(node, 'function'));
    return /approx$/i.test(name) || /^([\w]+\.)*[A-Z]\w*$/.test(name) ? 3 : 0;
  }
  if (/(^|\.)ANY$/.test(shortText(node))) return 3;
  if (LITERAL.test(node.type)) return 2;
  return /expect|want/i.test(shortText(node)) ? 1 : 0;
}
