import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import { JAVASCRIPT } from './literals.ts';
import { changeLiteral } from '../shared/literals.ts';
import { children, field, findAll, shortText } from '../shared/nodes.ts';

/** Functions of a file, by name, that tests may call to check something. */
export type Helpers = ReadonlyMap<string, Node>;

const FUNCTIONS = new Set(['arrow_function', 'function_expression', 'function_declaration', 'method_definition']);
const ENDS = new Set(['return_statement', 'yield_expression']);
const NAMES = new Set(['identifier', 'shorthand_property_identifier']);
/** What may end a test that has checked nothing. */
const QUITS = /\b(skip|todo|exit|abort)\(/;

/** Those at the top of the file that do when they are called what they say: none that is async, a generator, or returns early. */
export function helpersIn(root: Node): Helpers {
  const found = new Map<string, Node | null>();
  const add = (name: string, node: Node | null) => {
    const runs =
      node &&
      FUNCTIONS.has(node.type) &&
      !/^(async\b|function\s*\*)/.test(node.text) &&
      findAll(node, ENDS, FUNCTIONS).length === 0 &&
      !QUITS.test(node.text);
    found.set(name, runs && !found.has(name) ? node : null);
  };
  for (const statement of children(root)) {
    if (/^(generator_)?function_declaration$/.test(statement.type)) add(shortText(field(statement, 'name')), statement);
    if (/^(lexical|variable)_declaration$/.test(statement.type))
      for (const declarator of children(statement))
        add(
          shortText(field(declarator, 'name')),
          statement.text.startsWith('const') ? field(declarator, 'value') : null,
        );
  }
  const bound = namesBound(root);
  return new Map(
    [...found].flatMap(([name, node]) =>
      node && bound.filter((one) => one === name).length === 1 ? [[name, node]] : [],
    ),
  );
}

const BINDING = new Set([
  ...FUNCTIONS,
  'variable_declarator',
  'formal_parameters',
  'class_declaration',
  'catch_clause',
]);
const BOUND = new Set(['identifier', 'shorthand_property_identifier_pattern']);

/** Each name as often as something of the file gives it a value: what a test has under it may be something else. */
function namesBound(root: Node): string[] {
  return findAll(root, BINDING).flatMap((node) => {
    const inside =
      node.type === 'formal_parameters'
        ? [node]
        : [field(node, 'name'), field(node, 'parameter')].filter((one) => one !== null);
    return inside.flatMap((one) => findAll(one, BOUND).map(shortText));
  });
}

/**
 * A call of a helper that compares one of its parameters: the literal that it is given for it becomes another one. `operandsOf`: both
 * sides of an equality that an expression checks. A parameter that the helper uses for anything else as well is left.
 */
export function inHelper(call: Node, helper: Node, operandsOf: (expression: Node) => readonly Node[]): Edit[] | null {
  const body = field(helper, 'body');
  const given = children(field(call, 'arguments'));
  if (!body || given.some(({ type }) => type === 'spread_element')) return null;
  const single = field(helper, 'parameter');
  const names = (single ? [single] : children(field(helper, 'parameters'))).map(nameOf);
  const used = findAll(body, NAMES).map(({ text }) => text);
  const statements =
    body.type === 'statement_block'
      ? children(body).flatMap((statement) =>
          statement.type === 'expression_statement' ? children(statement).slice(0, 1) : [],
        )
      : [body];
  for (const expression of statements)
    for (const operand of operandsOf(expression)) {
      const at = operand.type === 'identifier' ? names.indexOf(operand.text) : -1;
      if (at < 0 || used.filter((name) => name === operand.text).length > 1) continue;
      const edits = given[at] ? changeLiteral(given[at], JAVASCRIPT) : null;
      if (edits) return edits;
    }
  return null;
}

/** Empty for one that is taken apart, or takes several. */
function nameOf(parameter: Node): string {
  if (parameter.type === 'identifier') return parameter.text;
  // TypeScript's has a type; one with a value of its own has a left side.
  const name = field(parameter, 'pattern') ?? field(parameter, 'left');
  return name?.type === 'identifier' ? name.text : '';
}
