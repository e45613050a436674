import type { Node } from '@vscode/tree-sitter-wasm';
import type { Literals } from '../shared/literals.ts';
import { children, field, shortText } from '../shared/nodes.ts';

export const PYTHON: Literals = {
  kinds: {
    integer: 'number',
    float: 'number',
    string: 'string',
    concatenated_string: 'string',
    true: 'true',
    false: 'false',
    none: 'nothing',
    unary_operator: 'sign',
    list: 'list',
    tuple: 'list',
    set: 'set',
    dictionary: 'map',
  },
  boolean: { true: 'True', false: 'False' },
  pair: (name, digit) => `"${name}": ${digit}`,
  inside: insideOf,
};

const MEMBERS = /^(list|tuple|set)$/;

function insideOf(node: Node): Node | undefined {
  const [first, second] = children(node);
  if (node.type === 'parenthesized_expression') return first;
  if (node.type === 'binary_operator' && field(node, 'operator')?.text === '+')
    return [first, second].find((one) => one && (PYTHON.kinds[one.type] || one.type === 'binary_operator'));
  const callee = field(node, 'function');
  const [argument, more] = children(field(node, 'arguments'));
  if (node.type !== 'call' || !callee || !argument || more) return undefined;
  const name = shortText(callee);
  if (/^(list|tuple|sorted)$/.test(name)) return MEMBERS.test(argument.type) ? argument : undefined;
  if (/^(set|frozenset)$/.test(name)) {
    const texts = children(argument).map(shortText);
    return MEMBERS.test(argument.type) && new Set(texts).size === texts.length ? argument : undefined;
  }
  if (/^(decimal\.)?Decimal$/.test(name)) return argument;
  if (/^(pytest\.)?approx$/.test(name)) return isAlmost(argument) ? argument : undefined;
  const joins = callee.type === 'attribute' && field(callee, 'attribute')?.text === 'join';
  return joins && field(callee, 'object')?.type === 'string' && MEMBERS.test(argument.type) ? argument : undefined;
}

/** A number that is nowhere near, once its first digit is another one. */
export const isAlmost = (node: Node): boolean => /^-?[\d_]*\.?[\d_]+$/.test(shortText(node));

/** The operand that is written by the author: a literal, rather than a call. A matcher is changed itself, as it may equal much. */
export function expectedOf(left: Node, right: Node): Node {
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
