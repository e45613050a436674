import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import type { JavaContext } from './helper-source.ts';
import { changedLiteral } from './literals.ts';
import { children, field, insert, replace, shortText, wrap } from '../shared/nodes.ts';

/** An assertion of JUnit or Hamcrest; null where it cannot be turned. */
export function inJunit(call: Node, context: JavaContext): Edit[] | null {
  const name = shortText(field(call, 'name'));
  const all = children(field(call, 'arguments'));
  if (shortText(field(call, 'object')) === 'thrown') return inRule(name, all, context);
  if (/^assertThat$/.test(name)) return context.libraries.hamcrest ? inHamcrest(all) : null;
  const args = withoutMessage(name, all, context);
  const [first, second] = args;
  if (!first) return null;
  const { helper } = context;
  switch (name) {
    case 'assertTrue':
    case 'assertFalse':
      return /^(lambda_expression|method_reference)$/.test(first.type) ? null : wrap(first, '!(', ')');
    case 'assertNull':
      return wrap(first, `${helper}.turn(`, ')');
    case 'assertNotNull':
      return wrap(first, `${helper}.nothing(`, ')');
    case 'assertThrows':
    case 'assertThrowsExactly':
      return wrap(first, `${helper}.error(`, ')');
    case 'assertEquals':
      return second ? inEquality(args, helper) : null;
    case 'assertSame':
      return second ? wrap(first, `${helper}.turn(`, ')') : null;
    case 'assertNotEquals':
    case 'assertNotSame':
      return second && args.length === 2
        ? [...wrap(first, `(Object) ${helper}.keep(`, ')'), replace(second, `(Object) ${helper}.kept()`)]
        : null;
    case 'assertArrayEquals':
    case 'assertIterableEquals':
    case 'assertLinesMatch':
      return second ? (changedLiteral(first) ?? changedLiteral(second)) : null;
    default:
      return null;
  }
}

const COUNT: Record<string, number> = {
  ...{ assertTrue: 1, assertFalse: 1, assertNull: 1, assertNotNull: 1 },
  ...{ assertEquals: 2, assertNotEquals: 2, assertSame: 2, assertNotSame: 2, assertArrayEquals: 2 },
  ...{ assertThrows: 2, assertThrowsExactly: 2, assertIterableEquals: 2, assertLinesMatch: 2 },
};

/** The message is first in JUnit 4, last in 5; a third value that is no text is how far two numbers may differ. */
function withoutMessage(name: string, args: readonly Node[], { libraries }: JavaContext): readonly Node[] {
  const count = COUNT[name];
  if (count === undefined || args.length <= count) return args;
  const only4 = libraries.junit === 4;
  if (only4 && (count === 1 || isText(args[0]!))) return args.slice(1);
  if (!only4 && (count === 1 || isText(args.at(-1)!))) return args.slice(0, -1);
  return args;
}

const isText = (node: Node): boolean =>
  node.type === 'string_literal' ||
  node.type === 'lambda_expression' ||
  (node.type === 'binary_expression' && /"/.test(node.text)) ||
  /(^|\.)format(ted)?\(/.test(shortText(node));

/** A literal becomes another one; of another expression the value is changed. Numbers that may differ a little: none is near NaN. */
function inEquality(args: readonly Node[], helper: string): Edit[] | null {
  const [expected, actual, delta] = args as [Node, Node, Node | undefined];
  if (delta)
    return args.length === 3 && isNumber(delta) && !/NaN/.test(expected.text)
      ? [replace(expected, 'Double.NaN')]
      : null;
  const literal = changedLiteral(expected) ?? changedLiteral(actual);
  return literal ?? [...wrap(expected, `(Object) ${helper}.turn(`, ')'), ...wrap(actual, '(Object) (', ')')];
}

const isNumber = (node: Node): boolean =>
  /floating_point_literal$|integer_literal$/.test(node.type) || /delta|eps|tolerance|precision/i.test(shortText(node));

/** `assertThat(actual, is(5))`, perhaps with a reason before. */
function inHamcrest(args: readonly Node[]): Edit[] | null {
  const matcher = args.at(-1);
  if (args.length < 2 || matcher?.type !== 'method_invocation') return null;
  return inMatcher(matcher) ?? wrap(matcher, 'org.hamcrest.CoreMatchers.not(', ')');
}

function inMatcher(matcher: Node): Edit[] | null {
  const [value, more] = children(field(matcher, 'arguments'));
  if (!/^(is|equalTo|hasSize)$/.test(shortText(field(matcher, 'name')))) return null;
  if (!value || more) return null;
  return value.type === 'method_invocation' ? (inMatcher(value) ?? changedLiteral(value)) : changedLiteral(value);
}

/** JUnit 4's rule `ExpectedException`. */
function inRule(name: string, [first]: readonly Node[], { helper }: JavaContext): Edit[] | null {
  if (name === 'expect' && first?.type === 'class_literal') return wrap(first, `${helper}.error(`, ')');
  return name === 'expectMessage' && first?.type === 'string_literal' ? [insert(first.endIndex - 1, helper)] : null;
}
