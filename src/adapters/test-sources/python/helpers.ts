import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import { changeLiteral } from '../shared/literals.ts';
import { children, field, findAll, shortText } from '../shared/nodes.ts';
import { PYTHON } from './literals.ts';

/** Functions of a file, or methods of a class, by name, that tests may call to check something. */
export type Helpers = ReadonlyMap<string, Node>;

/** Assertions of unittest that hold where two are equal. */
export const EQUAL = new Set([
  'assertIs',
  ...['', 'List', 'Dict', 'Tuple', 'Set', 'Sequence', 'MultiLine', 'Count'].map((kind) => `assert${kind}Equal`),
]);
const SCOPES = new Set(['function_definition', 'class_definition', 'lambda']);
const YIELD = new Set(['yield', 'return_statement']);
/** What may end a test that has checked nothing. */
const ENDS = /\b(skip\w*|xfail|importorskip|_?exit)\(|Skip/;
const NAMES = new Set(['identifier']);

/** Of these definitions, those that do when they are called what they say: no decorator, no coroutine, no generator, defined once. */
export function helpersIn(
  definitions: readonly { node: Node; decorators: readonly string[]; maybe: boolean }[],
  root?: Node,
): Helpers {
  const bound = new Set(root ? namesBound(root) : []);
  const found = new Map<string, Node | null>();
  for (const { node, decorators, maybe } of definitions) {
    const name = shortText(field(node, 'name'));
    const plain =
      node.type === 'function_definition' && decorators.length === 0 && !maybe && !node.text.startsWith('async');
    const runs = findAll(node, YIELD, SCOPES).length === 0 && !ENDS.test(node.text);
    found.set(name, plain && runs && !found.has(name) && !bound.has(name) ? node : null);
  }
  return new Map([...found].flatMap(([name, node]) => (node ? [[name, node]] : [])));
}

const BINDING = new Set(['assignment', 'for_statement', 'parameters', 'as_pattern', 'named_expression']);

/** Names that get a value somewhere in the file: what a test has under one may be no function. */
const namesBound = (root: Node): string[] =>
  findAll(root, BINDING).flatMap((node) => {
    const target =
      node.type === 'parameters' ? node : (field(node, 'left') ?? field(node, 'alias') ?? field(node, 'name'));
    return target ? findAll(target, NAMES).map(({ text }) => text) : [];
  });

/**
 * A call of a helper that compares one of its parameters: the literal that it is given for it becomes another one. `operandsOf`: both
 * sides of an equality that a statement surely checks. A parameter that the helper uses for anything else as well is left.
 */
export function inHelper(
  call: Node,
  helper: Node,
  { self, operandsOf }: { self: boolean; operandsOf: (statement: Node, self: string) => readonly Node[] },
): Edit[] | null {
  const names = children(field(helper, 'parameters')).map(nameOf);
  const own = self ? (names.shift() ?? '') : '';
  const body = field(helper, 'body');
  const given = children(field(call, 'arguments'));
  if (!body || given.some(({ type }) => /splat|generator/.test(type))) return null;
  const used = findAll(body, NAMES).map(({ text }) => text);
  for (const statement of children(body))
    for (const operand of operandsOf(statement, own)) {
      const at = operand.type === 'identifier' ? names.indexOf(operand.text) : -1;
      if (at < 0 || used.filter((name) => name === operand.text).length > 1) continue;
      const value = given.find((one) => keyOf(one) === operand.text) ?? given[at];
      if (!value || (keyOf(value) !== null && keyOf(value) !== operand.text)) continue;
      const edits = changeLiteral(field(value, 'value') ?? value, PYTHON);
      if (edits) return edits;
    }
  return null;
}

const keyOf = (argument: Node): string | null =>
  argument.type === 'keyword_argument' ? shortText(field(argument, 'name')) : null;

/** Empty for one that takes several. */
function nameOf(parameter: Node): string {
  if (parameter.type === 'identifier') return parameter.text;
  const name = field(parameter, 'name') ?? (parameter.type === 'typed_parameter' ? children(parameter)[0] : null);
  return name?.type === 'identifier' ? name.text : '';
}

/** Both sides of an equality that a statement checks; `self`: whose assertions are unittest's. */
export function comparedIn(statement: Node, self: string): readonly Node[] {
  const [inner] = children(statement);
  if (statement.type === 'assert_statement') {
    const [left, right, more] = inner?.type === 'comparison_operator' ? children(inner) : [];
    return left && right && !more && field(inner!, 'operators')?.text === '==' ? [right, left] : [];
  }
  if (statement.type !== 'expression_statement' || inner?.type !== 'call' || self === '') return [];
  const method = field(inner, 'function');
  const [first, second] = children(field(inner, 'arguments'));
  const equal = shortText(field(method, 'object')) === self && EQUAL.has(shortText(field(method, 'attribute')));
  return equal && first && second ? [second, first] : [];
}
