import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit, Turn } from '../../../domain/evidence/test-source.ts';
import { among, changeLiteral } from '../shared/literals.ts';
import {
  children,
  DEPTH_MAX,
  field,
  findAll,
  insert,
  replace,
  shortText,
  turn,
  wrap,
  type Turned,
} from '../shared/nodes.ts';
import { otherError, otherWarning } from './errors.ts';
import { comparedIn, EQUAL, inHelper, type Helpers } from './helpers.ts';
import { expectedOf, isAlmost, PYTHON } from './literals.ts';
import type { Secret } from '../shared/secret.ts';

/** Names that the turned source defines: functions that may change a value, to one that equals it not, or not even nearly. */
export interface PythonHelpers {
  turned: string;
  nan: string;
  secret: Secret;
}

interface Context {
  helpers: PythonHelpers;
  sure: boolean;
  /** A method of a class of unittest, whose assertions are its own. */
  unittest: boolean;
  /** The file's text. */
  text: string;
  /** What the test may call: functions of the file, and methods of its class. */
  functions: Helpers;
  methods: Helpers;
}

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
  assertGreater: 'assertLessEqual',
  assertGreaterEqual: 'assertLess',
  assertLess: 'assertGreaterEqual',
  assertLessEqual: 'assertGreater',
};
const OPERATORS: Record<string, string> = {
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
  '!=': '==',
  in: 'not in',
  'not in': 'in',
  is: 'is not',
  'is not': 'is',
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
  return inBlock(field(test, 'body'), { ...context, self, test });
}

type Within = Context & { self: string; test: Node };

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
  const told = (turned: Turned | null, always = sure) => (turned ? [turn(turned.edits, always, turned.neutral)] : []);
  if (statement.type === 'assert_statement') return told(inCondition(children(statement)[0]!, context));
  if (statement.type === 'with_statement')
    return itemsOf(statement).flatMap((item, index) =>
      told(item.type === 'call' ? inRaises(item, context) : null, sure && index === 0),
    );
  const call = children(statement)[0];
  if (statement.type !== 'expression_statement' || call?.type !== 'call') return [];
  return told(
    (context.unittest ? inMethod(call, context) : null) ?? inRaisesCall(call, context) ?? inOwnHelper(call, context),
  );
}

/** `check(f(1), 2)` of the file's own, or `self.check(f(1), 2)`. */
function inOwnHelper(call: Node, { self, test, unittest, functions, methods }: Within): Turned | null {
  const callee = field(call, 'function');
  const method = callee?.type === 'attribute' && shortText(field(callee, 'object')) === self;
  const helper = method ? methods.get(shortText(field(callee, 'attribute'))) : functions.get(shortText(callee));
  const shadowed = !method && children(field(test, 'parameters')).some((one) => shortText(one) === shortText(callee));
  if (!helper || helper.id === test.id || shadowed) return null;
  const operandsOf = (statement: Node, own: string) => comparedIn(statement, unittest ? own : '');
  const edits = inHelper(call, helper, { self: method, operandsOf });
  return edits && { edits };
}

/** An equality gets another operand, everything else is negated. */
function inCondition(condition: Node, context: Within): Turned | null {
  if (condition.type === 'parenthesized_expression') return inCondition(children(condition)[0]!, context);
  if (condition.type === 'tuple') return null;
  if (condition.type === 'boolean_operator' && field(condition, 'operator')?.text === 'and')
    return inCondition(field(condition, 'left')!, context);
  if (condition.type === 'not_operator') {
    const argument = field(condition, 'argument')!;
    return { edits: [{ start: condition.startIndex, end: argument.startIndex, text: '' }] };
  }
  const [left, right, more] = children(condition);
  if (condition.type === 'comparison_operator' && !more && left && right) {
    const operator = field(condition, 'operators');
    if (operator?.text === '==') return changed(expectedOf(left, right), context);
    const other = OPERATORS[operator?.text.replace(/\s+/g, ' ') ?? ''];
    if (operator && other) return { edits: [replace(operator, other)] };
  }
  // These bind less than `not` does.
  const loose = /^(boolean_operator|conditional_expression|lambda|named_expression)$/.test(condition.type);
  return { edits: loose ? wrap(condition, 'not (', ')') : [insert(condition.startIndex, 'not ')] };
}

function inMethod(call: Node, context: Within): Turned | null {
  const method = field(call, 'function');
  const name = field(method, 'attribute');
  if (method?.type !== 'attribute' || !name || shortText(field(method, 'object')) !== context.self) return null;
  const [first, second, ...more] = children(field(call, 'arguments'));
  if (!first || [first, second, ...more].some((one) => one && /splat|generator/.test(one.type))) return null;
  const two = second && first.type !== 'keyword_argument' && second.type !== 'keyword_argument';
  if (EQUAL.has(name.text)) return two ? changed(expectedOf(first, second), context) : null;
  if (name.text === 'assertAlmostEqual') {
    if (!two) return null;
    const expected = expectedOf(first, second);
    // What is near it, nobody knows.
    const edits = more.length === 0 && isAlmost(expected) ? changeLiteral(expected, PYTHON) : null;
    return edits ? { edits } : called(expected, context.helpers.nan, context);
  }
  const opposite = two ? (COMPARISON[name.text] ?? OPPOSITE.get(name.text)) : OPPOSITE.get(name.text);
  return opposite ? { edits: [replace(name, opposite)] } : null;
}

/** Another literal, where there is one; else a call that may change its value. */
function changed(expected: Node, context: Within): Turned {
  const literal = definitionOf(expected, context.test) ?? expected;
  const edits = changeLiteral(literal, PYTHON);
  return edits ? { edits } : called(expected, context.helpers.turned, context);
}

function called(node: Node, name: string, { helpers: { secret } }: Within): Turned {
  const calling = (changes: boolean): Edit[] => wrap(node, `${name}(`, `, ${secret.number(changes)})`);
  return { edits: calling(true), neutral: calling(false) };
}

const NAMES = new Set(['identifier']);

/** The value of a variable that the test sets once and uses for this alone. */
function definitionOf(expected: Node, test: Node): Node | null {
  if (expected.type !== 'identifier') return null;
  const body = field(test, 'body')!;
  const name = shortText(expected);
  const [first, second, more] = findAll(body, NAMES).filter((node) => node.text === name);
  const set = first?.parent;
  if (more || second?.id !== expected.id || set?.type !== 'assignment' || field(set, 'left')?.id !== first!.id)
    return null;
  // Set in a loop or a branch, it may be another one.
  return set.parent?.parent?.id === body.id ? field(set, 'right') : null;
}

/** `raises(Error, …)`: the error becomes another one. */
function inRaises(call: Node, { self, text }: Within): Turned | null {
  const name = shortText(field(call, 'function'));
  const [error] = children(field(call, 'arguments'));
  const asked = name.startsWith(`${self}.`) ? name.slice(self.length + 1) : name;
  if (!error || !RAISES.test(asked)) return null;
  const parts = error.type === 'tuple' ? children(error) : [error];
  const names = parts.map(shortText);
  const named = names.every((part) => /^([\w]+\.)*[A-Z]\w*$/.test(part) && !UNSAFE.test(part));
  if (!named) return null;
  const others = /warn/i.test(asked) ? otherWarning(names, text) : otherError(names, text);
  const other = among(others);
  // Of several, each.
  return { edits: parts.map((part) => replace(part, other)) };
}

const inRaisesCall = (call: Node, context: Within): Turned | null =>
  children(field(call, 'arguments')).filter(({ type }) => type !== 'keyword_argument').length >= 2
    ? inRaises(call, context)
    : null;
