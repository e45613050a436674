import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import { nameOf } from './helper-source.ts';
import { children, DEPTH_MAX, field, insert, replace } from '../shared/nodes.ts';

/** Values that are written out in a call: another element makes another value. */
const LISTS = /^((java\.util\.)?(Arrays|List|Set|Map|Optional)\.)?(asList|of|entry)$/;

/** Makes a literal, or one inside of a list that is written out, another one of its type; null for any other expression. */
export function changedLiteral(node: Node, depth = 0): Edit[] | null {
  if (depth > DEPTH_MAX) return null;
  const inner = (child: Node | null | undefined) => (child ? changedLiteral(child, depth + 1) : null);
  switch (node.type) {
    case 'decimal_integer_literal':
    case 'hex_integer_literal':
    case 'octal_integer_literal':
    case 'binary_integer_literal':
      return [insert(node.startIndex, '('), insert(node.endIndex, ' ^ 1)')];
    case 'decimal_floating_point_literal':
      return [insert(node.startIndex, '('), insert(node.endIndex, ' * 2 + 1)')];
    case 'true':
    case 'false':
      return [replace(node, node.type === 'true' ? 'false' : 'true')];
    case 'string_literal':
      return [insert(node.endIndex - (node.text.startsWith('"""') ? 3 : 1), 'x')];
    case 'character_literal':
      return [replace(node, node.text === "'x'" ? "'y'" : "'x'")];
    case 'parenthesized_expression':
      return inner(children(node)[0]);
    case 'cast_expression':
      return inner(field(node, 'value'));
    case 'unary_expression':
      return inUnary(node, inner);
    case 'binary_expression':
      return inSum(node, inner);
    case 'array_creation_expression':
      return inArray(node, inner);
    case 'array_initializer':
      return firstOf(children(node), inner);
    case 'method_invocation':
      return LISTS.test(nameOf(node)) ? firstOf(children(field(node, 'arguments')), inner) : null;
    default:
      return null;
  }
}

type Inner = (child: Node | null | undefined) => Edit[] | null;

function firstOf(nodes: readonly Node[], inner: Inner): Edit[] | null {
  for (const node of nodes) {
    const edits = inner(node);
    if (edits) return edits;
  }
  return null;
}

/** The sign stays outside. */
function inUnary(node: Node, inner: Inner): Edit[] | null {
  const operand = field(node, 'operand');
  const number = operand && /integer_literal$|floating_point_literal$/.test(operand.type);
  if (!number || !node.text.startsWith('-')) return null;
  return operand.type.includes('integer')
    ? [insert(node.startIndex, '('), insert(node.endIndex, ' ^ 1)')]
    : inner(operand);
}

/** A text that is put together of several lines. */
const inSum = (node: Node, inner: Inner): Edit[] | null => {
  const [left, right] = [field(node, 'left'), field(node, 'right')];
  if (field(node, 'operator')?.text !== '+') return null;
  if (right?.type === 'string_literal') return inner(right);
  return left?.type === 'string_literal' || left?.type === 'binary_expression' ? inner(left) : null;
};

function inArray(node: Node, inner: Inner): Edit[] | null {
  const value = field(node, 'value');
  if (value) return inner(value);
  const [size, more] = children(node).filter(({ type }) => type === 'dimensions_expr');
  const length = children(size ?? null)[0];
  // A sum of two numbers is no text: this one is an array without values.
  return !more && length?.text === '0' ? [replace(length, '1')] : null;
}
