import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit, Turn } from '../../../domain/evidence/test-source.ts';
import { inAssertj } from './assertj.ts';
import { nameOf, type JavaContext } from './helper-source.ts';
import { inJunit } from './junit.ts';
import { children, DEPTH_MAX, field, findAll, replace, shortText, turn } from '../shared/nodes.ts';

interface Method extends JavaContext {
  /** An assertion that fails makes the test fail. */
  sure: boolean;
  /** The error that the test is declared to end with. */
  expected: Node | null;
}

const SCOPES = new Set(['lambda_expression', 'class_body', 'method_declaration']);
const EARLY_END = new Set([
  'return_statement',
  'break_statement',
  'continue_statement',
  'throw_statement',
  'yield_statement',
  'method_invocation',
]);
const NESTED =
  /^(block|if_statement|for_statement|enhanced_for_statement|while_statement|do_statement|try_statement|try_with_resources_statement|switch_expression|switch_block|switch_block_statement_group|synchronized_statement|catch_clause|finally_clause)$/;

/** Each assertion of a test method. */
export function javaTurns(method: Node, context: Method): Turn[] {
  if (context.expected)
    return context.expected.type === 'class_literal'
      ? [turn([replace(context.expected, `${context.helper}.Err.class`)], context.sure)]
      : [];
  const turns: Turn[] = [];
  const left = [{ block: field(method, 'body'), sure: context.sure, depth: 0 }];
  while (left.length > 0) {
    const next = left.shift()!;
    let { sure } = next;
    if (next.depth > DEPTH_MAX) continue;
    for (const statement of children(next.block)) {
      const call = statement.type === 'expression_statement' ? children(statement)[0]! : null;
      if (call?.type === 'method_invocation') turns.push(...inCall(call, { ...context, sure }));
      if (NESTED.test(statement.type)) {
        const filled = statement.type === 'enhanced_for_statement' && isFilled(field(statement, 'value'));
        const runs = filled || statement.type === 'block' || statement.type === 'synchronized_statement';
        const block = filled ? field(statement, 'body') : statement;
        left.push({ block, sure: sure && runs, depth: next.depth + 1 });
      }
      if (mayEnd(statement)) sure = false;
    }
  }
  return turns;
}

function inCall(call: Node, context: JavaContext & { sure: boolean }): Turn[] {
  if (/^((org\.junit\.jupiter\.api\.)?Assertions\.)?assertAll$/.test(nameOf(call)))
    return children(field(call, 'arguments'))
      .filter(({ type }) => type === 'lambda_expression')
      .flatMap((lambda) => {
        const body = field(lambda, 'body');
        return body?.type === 'method_invocation' ? inCall(body, context) : [];
      });
  const edits = inAssertion(call, context);
  return edits ? [turn(edits, context.sure)] : [];
}

const LINKS_MAX = 30;

function inAssertion(call: Node, context: JavaContext): Edit[] | null {
  const links: Node[] = [];
  for (let node: Node | null = call; node?.type === 'method_invocation'; node = field(node, 'object')) {
    links.unshift(node);
    if (links.length > LINKS_MAX) return null;
  }
  const [first, ...more] = links;
  if (context.own.has(shortText(field(first!, 'name')))) return null;
  const object = shortText(field(first!, 'object'));
  if (more.length > 0)
    return context.libraries.assertj && /^((org\.assertj\.core\.api\.)?Assert\w*)?$/.test(object)
      ? inAssertj(first!, more, context)
      : null;
  return /^((org\.junit\.(jupiter\.api\.)?)?(Assert|Assertions)|(org\.hamcrest\.)?MatcherAssert)?$/.test(object) ||
    object === 'thrown'
    ? inJunit(call, context)
    : null;
}

/** A list that is written out. */
const isFilled = (value: Node | null): boolean => {
  if (value?.type === 'array_creation_expression') return children(field(value, 'value')).length > 0;
  return (
    value?.type === 'method_invocation' &&
    /^((Arrays\.)?asList|(List|Set)\.of)$/.test(nameOf(value)) &&
    children(field(value, 'arguments')).length > 0
  );
};

/** Whether the test can end here, and pass. */
function mayEnd(statement: Node): boolean {
  if (SCOPES.has(statement.type)) return false;
  return findAll(statement, EARLY_END, SCOPES).some((found) => {
    if (found.type === 'method_invocation') return /^(System\.exit|Runtime\b.*\.(exit|halt))$/.test(nameOf(found));
    return found.type !== 'throw_statement' || found === statement;
  });
}
