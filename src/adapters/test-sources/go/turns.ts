import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit, Turn } from '../../../domain/evidence/test-source.ts';
import { helperOf, inGoHelper } from './helpers.ts';
import type { Negation } from './negation.ts';
import { children, DEPTH_MAX, field, replace, shortText, turn, type SourceFile } from '../shared/nodes.ts';

interface Context {
  /** The name of the test's `*testing.T`. */
  t: string;
  testify: boolean;
  file: SourceFile;
  negation: Negation;
  depth?: number;
}

/** What can be turned in some statements. */
interface Part {
  edits: Edit[];
  /** What looks as the edits do and changes nothing, where they could be told. */
  neutral: Edit[];
  /** Whoever comes through evaluates something that is turned. */
  covers: boolean;
  /** The test, or an iteration, can end here before that. */
  ends: boolean;
}

const NOTHING: Part = { edits: [], neutral: [], covers: false, ends: false };
const FAILS = /^(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$/;
const OPPOSITES = [
  ['Equal', 'NotEqual'],
  ['EqualValues', 'NotEqualValues'],
  ['True', 'False'],
  ['Nil', 'NotNil'],
  ['NoError', 'Error'],
  ['Empty', 'NotEmpty'],
  ['Contains', 'NotContains'],
  ['Same', 'NotSame'],
  ['Panics', 'NotPanics'],
  ['ErrorIs', 'NotErrorIs'],
] as const;
const OPPOSITE = new Map<string, string>(
  OPPOSITES.flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]),
);

/**
 * All of a test's checks as one turn: Go has no way to overload an equality, so a test ends as failed where a condition that leads to a
 * failure does not hold. It is sure where each way through the test meets one.
 */
export function goTurns(body: Node | null, context: Context): Turn[] {
  const { edits, neutral, covers } = inStatements(statementsOf(body), context);
  return edits.length > 0 ? [turn(edits, covers, neutral)] : [];
}

const statementsOf = (block: Node | null): Node[] =>
  children(block).flatMap((node) => (node.type === 'statement_list' ? children(node) : [node]));

function inStatements(statements: readonly Node[], context: Context): Part {
  const edits: Edit[] = [];
  const neutral: Edit[] = [];
  let covers = false;
  let ends = false;
  for (const statement of statements) {
    const part = inStatement(statement, context);
    edits.push(...part.edits);
    neutral.push(...part.neutral);
    if (covers || ends) continue;
    covers = part.covers;
    ends = !part.covers && part.ends;
  }
  return { edits, neutral, covers, ends };
}

function inStatement(statement: Node, outer: Context): Part {
  const context = { ...outer, depth: (outer.depth ?? 0) + 1 };
  if (context.depth > DEPTH_MAX) return { ...NOTHING, ends: true };
  switch (statement.type) {
    case 'expression_statement':
      return inCall(children(statement)[0]!, context);
    case 'if_statement':
      return inIf(statement, context);
    case 'expression_switch_statement':
      return inSwitch(statement, context);
    case 'for_statement':
      return inFor(statement, context);
    case 'block':
      return inStatements(statementsOf(statement), context);
    case 'return_statement':
    case 'break_statement':
    case 'continue_statement':
    case 'goto_statement':
    case 'labeled_statement':
    case 'select_statement':
    case 'type_switch_statement':
      return { ...NOTHING, ends: true };
    default:
      return NOTHING;
  }
}

/** An assertion of testify, or a subtest. */
function inCall(call: Node, context: Context): Part {
  const callee = field(call, 'function');
  const name = field(callee, 'field');
  if (call.type !== 'call_expression') return NOTHING;
  if (/skip|exit$/i.test(shortText(name ?? callee))) return { ...NOTHING, ends: true };
  if (callee?.type === 'identifier') return inOwnHelper(call, context);
  if (callee?.type !== 'selector_expression' || !name) return NOTHING;
  const receiver = shortText(field(callee, 'operand'));
  if (receiver === context.t && name.text === 'Run') return inSubtest(call, context);
  const [, base = '', formatted = ''] = /^(\w+?)(f?)$/.exec(name.text) ?? [];
  const opposite = OPPOSITE.get(base);
  if (!context.testify || !opposite || !/^(assert|require|is|must|a|r)$/.test(receiver)) return NOTHING;
  return { ...NOTHING, edits: [replace(name, `${opposite}${formatted}`)], covers: true };
}

/** `assertEqual(t, got, 5)` of the file's own: the conditions at its top that lead to a failure. */
function inOwnHelper(call: Node, context: Context): Part {
  const helper = helperOf(call, context.t);
  if (!helper) return NOTHING;
  const conditions = statementsOf(helper.body)
    .filter((one) => one.type === 'if_statement' && !field(one, 'initializer'))
    .filter((one) => fails(statementsOf(field(one, 'consequence')), { ...context, t: helper.t }))
    .map((one) => field(one, 'condition')!);
  const edits = inGoHelper(call, helper, conditions);
  return edits ? { ...NOTHING, edits, covers: true } : NOTHING;
}

function inSubtest(call: Node, context: Context): Part {
  const literal = children(field(call, 'arguments')).find(({ type }) => type === 'func_literal');
  const [parameter] = children(field(literal ?? null, 'parameters'));
  const t = shortText(field(parameter ?? null, 'name'));
  if (!literal || t === '' || t === '_') return NOTHING;
  return { ...inStatements(statementsOf(field(literal, 'body')), { ...context, t }), ends: false };
}

function inIf(statement: Node, context: Context): Part {
  const condition = field(statement, 'condition')!;
  const consequence = field(statement, 'consequence');
  if (fails(statementsOf(consequence), context)) return negated(condition, context);
  const then = inStatements(statementsOf(consequence), context);
  const alternative = field(statement, 'alternative');
  const other = alternative ? inStatement(alternative, context) : NOTHING;
  return {
    edits: [...then.edits, ...other.edits],
    neutral: [...then.neutral, ...other.neutral],
    covers: then.covers && other.covers,
    ends: then.ends || other.ends,
  };
}

/** A condition that leads to a failure. */
const negated = (condition: Node, { t, negation }: Context): Part => ({
  ...negation.of(condition, t),
  covers: true,
  ends: false,
});

/** Cases are tried in order: the first that fails the test is always tried where none before it was taken. */
function inSwitch(statement: Node, context: Context): Part {
  const cases = children(statement).filter(({ type }) => /^(expression|default)_case$/.test(type));
  const conditions = field(statement, 'value') === null;
  const parts: Part[] = [];
  for (const one of cases) {
    const [condition, more] = children(field(one, 'value'));
    const statements = statementsOf(one).filter(({ type }) => type !== 'expression_list');
    if (statements.some(({ type }) => type === 'fallthrough_statement')) return { ...NOTHING, ends: true };
    if (conditions && condition && !more && fails(statements, context))
      return join([...parts, negated(condition, context)], true);
    parts.push(inStatements(statements, context));
  }
  return join(
    parts,
    cases.some(({ type }) => type === 'default_case'),
  );
}

const join = (parts: readonly Part[], complete: boolean): Part => ({
  edits: parts.flatMap(({ edits }) => edits),
  neutral: parts.flatMap(({ neutral }) => neutral),
  covers: complete && parts.every(({ covers }) => covers),
  ends: parts.some(({ ends }) => ends),
});

function inFor(statement: Node, context: Context): Part {
  const range = children(statement).find(({ type }) => type === 'range_clause');
  const part = inStatements(statementsOf(field(statement, 'body')), context);
  const filled = range !== undefined && isFilled(field(range, 'right'), context.file);
  return { ...part, covers: filled && part.covers };
}

/** A list that is written out, here or in a variable of this name of the package's tests. */
function isFilled(list: Node | null, { text, siblings = '' }: SourceFile): boolean {
  if (list?.type === 'composite_literal') return children(field(list, 'body')).length > 0;
  if (list?.type !== 'identifier') return false;
  const defined = new RegExp(`^[\\t ]*(?:var )?${list.text}\\s*:?= (?:\\[[^\\]\\n]*\\]|map\\[)[^\\n]*$`, 'm');
  const [line] = defined.exec(text) ?? defined.exec(siblings) ?? [];
  return line !== undefined && !/\{\}\s*$/.test(line);
}

/** Whether a block says itself that the test failed. */
const fails = (statements: readonly Node[], { t }: Context): boolean =>
  statements.some((statement) => {
    const callee = field(children(statement)[0] ?? null, 'function');
    return (
      statement.type === 'expression_statement' &&
      shortText(field(callee, 'operand')) === t &&
      FAILS.test(shortText(field(callee, 'field')))
    );
  });
