import type { Node } from '@vscode/tree-sitter-wasm';
import type { Literals } from '../shared/literals.ts';
import { children, field, shortText } from '../shared/nodes.ts';

export const JAVASCRIPT: Literals = {
  kinds: {
    number: 'number',
    string: 'string',
    template_string: 'string',
    true: 'true',
    false: 'false',
    null: 'nothing',
    undefined: 'nothing',
    unary_expression: 'sign',
    array: 'list',
    object: 'map',
  },
  boolean: { true: 'true', false: 'false' },
  pair: (name, digit) => `${name}: ${digit}`,
  inside: insideOf,
};

function insideOf(node: Node): Node | undefined {
  const [first, second] = children(node);
  switch (node.type) {
    case 'parenthesized_expression':
    case 'as_expression':
    case 'satisfies_expression':
      return first;
    case 'binary_expression':
      return field(node, 'operator')?.text === '+'
        ? [first, second].find((one) => one && (JAVASCRIPT.kinds[one.type] || one.type === 'binary_expression'))
        : undefined;
    case 'call_expression': {
      const callee = field(node, 'function');
      const list = callee?.type === 'member_expression' ? field(callee, 'object') : null;
      return list?.type === 'array' && shortText(field(callee, 'property')) === 'join' ? list : undefined;
    }
    case 'new_expression':
      return argumentOf(node);
    default:
      return undefined;
  }
}

/** Of what is equal by what it was given. */
function argumentOf(node: Node): Node | undefined {
  const name = shortText(field(node, 'constructor'));
  const [argument, more] = children(field(node, 'arguments'));
  if (!argument || more) return undefined;
  if (name.endsWith('Error')) return argument.type === 'string' ? argument : undefined;
  if (!/^(Map|Set)$/.test(name) || argument.type !== 'array') return undefined;
  // What is there twice counts once.
  const keys = children(argument).map((one) => shortText(name === 'Map' ? (children(one)[0] ?? null) : one));
  return keys.every((key) => key !== '') && new Set(keys).size === keys.length ? argument : undefined;
}

/** No class of errors is a kind of one of the others. */
const ERRORS = ['TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError'];
/** Hardly anything throws these: what an error of the project's is a kind of, nobody knows. */
const RARE = ['EvalError', 'URIError'];

/** Classes of errors that what throws `name` does not throw. Null: it is no name of a class. */
export function otherErrors(name: string): string[] | null {
  if (!/^([\w$]+\.)*[A-Z][\w$]*$/.test(name)) return null;
  return (ERRORS.includes(name) ? ERRORS : RARE).filter((other) => other !== name);
}
