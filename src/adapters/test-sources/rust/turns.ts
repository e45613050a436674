import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit, Turn } from '../../../domain/evidence/test-source.ts';
import { changeString, lowerNumber } from '../shared/literals.ts';
import { children, DEPTH_MAX, field, findAll, insert, replace, shortText, turn } from '../shared/nodes.ts';

const SCOPES = new Set(['function_item', 'closure_expression', 'async_block', 'mod_item']);
const EARLY_END = new Set(['return_expression', 'break_expression', 'continue_expression', 'call_expression']);
const NESTED = new Set(['block', 'if_expression', 'else_clause', 'match_expression', 'match_block', 'match_arm'])
  .add('for_expression')
  .add('while_expression')
  .add('loop_expression')
  .add('unsafe_block');

/** Each assertion of a test that can be turned wrong. */
export function rustTurns(test: Node): Turn[] {
  const turns: Turn[] = [];
  const left = [{ block: field(test, 'body'), sure: true, depth: 0 }];
  while (left.length > 0) {
    const next = left.shift()!;
    if (next.depth > DEPTH_MAX) continue;
    let { sure } = next;
    for (const statement of children(next.block)) {
      const expression = statement.type === 'expression_statement' ? children(statement)[0]! : statement;
      const edits = expression.type === 'macro_invocation' ? inMacro(expression) : null;
      if (edits) turns.push(turn(edits, sure));
      if (NESTED.has(expression.type)) {
        const filled = expression.type === 'for_expression' && isFilled(field(expression, 'value'));
        const block = filled ? field(expression, 'body') : expression;
        left.push({ block, sure: sure && (filled || expression.type === 'block'), depth: next.depth + 1 });
      }
      if (mayEnd(statement)) sure = false;
    }
  }
  return turns;
}

/** A list that is written out; an array's length that is computed may be 0. */
function isFilled(value: Node | null): boolean {
  const array = value?.type === 'reference_expression' ? field(value, 'value') : value;
  return array?.type === 'array_expression' && field(array, 'length') === null && children(array).length > 0;
}

/** Whether the test can end here, and pass. An error that is handed on by `?` fails it. */
const mayEnd = (statement: Node): boolean =>
  !SCOPES.has(statement.type) &&
  findAll(statement, EARLY_END, SCOPES).some(
    (found) => found.type !== 'call_expression' || /(^|::)exit$/.test(shortText(field(found, 'function'))),
  );

const EQUALITIES: Record<string, string> = { assert_eq: 'assert_ne', assert_ne: 'assert_eq' };

function inMacro(macro: Node): Edit[] | null {
  const name = field(macro, 'macro')!;
  const [left, right] = argumentsIn(children(macro).find(({ type }) => type === 'token_tree') ?? null);
  const first = left?.[0];
  if (!first) return null;
  if (name.text === 'assert') return negated(left);
  const opposite = EQUALITIES[name.text];
  if (!opposite || !right?.length) return null;
  // A value of another type is none: where none of the same can be written, the comparison is turned round.
  const changed = name.text === 'assert_eq' ? (changedIn(right, 0) ?? changedIn(left, 0)) : null;
  return changed ?? [replace(name, opposite)];
}

/** The tokens of each argument; a macro's are not parsed. */
function argumentsIn(tree: Node | null): Node[][] {
  const tokens = (tree?.children ?? []).filter((token): token is Node => token !== null).slice(1, -1);
  const found: Node[][] = [[]];
  for (const token of tokens) {
    if (token.text === ',') found.push([]);
    else if (!/comment/.test(token.type)) found.at(-1)!.push(token);
  }
  return found;
}

/** Makes a literal another one of its type; null where it is something else. */
function changedIn(tokens: readonly Node[], depth: number): Edit[] | null {
  const [first, second, third] = tokens;
  if (!first || depth > DEPTH_MAX) return null;
  if (tokens.length === 1) return changedLiteral(first);
  if (tokens.length === 2 && first.text === '-') return changedLiteral(second!);
  const words = tokens.map((token) => (token.type === 'token_tree' ? '()' : token.text)).join('');
  if (/^"[^]*"\.(to_string|to_owned|into)\(\)$/.test(words)) return changedLiteral(first);
  const inner = (tree: Node) => {
    const [one, more] = argumentsIn(tree);
    return more === undefined || more.length === 0 ? changedIn(one!, depth + 1) : null;
  };
  if (/^(Some|Ok|Err)\(\)$/.test(words) || words === 'String::from()') return inner(tokens.at(-1)!);
  // Of a list, the first.
  if ((words === 'vec!()' && third) || (words === '&()' && second))
    return changedIn(argumentsIn(third ?? second!)[0]!, depth + 1);
  return null;
}

/** Another one of any type that has the former. */
function changedLiteral(token: Node): Edit[] | null {
  switch (token.type) {
    case 'integer_literal':
    case 'float_literal': {
      const text = lowerNumber(token.text);
      return text === null ? null : [replace(token, text)];
    }
    case 'boolean_literal':
      return [replace(token, token.text === 'true' ? 'false' : 'true')];
    case 'string_literal':
      return token.text.startsWith('"') ? changeString(token) : null;
    case 'char_literal':
      return /^'[A-Za-z0-9]'$/.test(token.text) ? changeString(token) : [replace(token, "'x'")];
    default:
      return null;
  }
}

/** A condition becomes its opposite, in the way that somebody would write it. */
function negated(tokens: readonly Node[]): Edit[] {
  const [first, second] = tokens;
  const equalities = tokens.filter(({ text }) => text === '==' || text === '!=');
  const [equality] = equalities;
  if (equality && equalities.length === 1 && !tokens.some(({ text }) => /^(&&|\|\||=>|[<>]=?)$/.test(text)))
    return [replace(equality, equality.text === '==' ? '!=' : '==')];
  const isPath = (some: readonly Node[]) =>
    some.length > 0 &&
    some.every(({ type, text }) => /^(\.|::)$/.test(text) || /^(identifier|self|token_tree)$/.test(type));
  if (second && first!.text === '!' && isPath(tokens.slice(1)))
    return [{ start: first!.startIndex, end: second.startIndex, text: '' }];
  return isPath(tokens)
    ? [insert(first!.startIndex, '!')]
    : [insert(first!.startIndex, '!('), insert(tokens.at(-1)!.endIndex, ')')];
}
