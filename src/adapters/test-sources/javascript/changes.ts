import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import { JAVASCRIPT, otherErrors } from './literals.ts';
import { among, changeLiteral, changeRegex, changeString } from '../shared/literals.ts';
import { children, field, findAll, insert, replace, shortText, wrap, type Turned } from '../shared/nodes.ts';
import type { Secret } from '../shared/secret.ts';

/** The name that `helperCode` defines, and which of its calls change something. */
export interface Helper {
  name: string;
  secret: Secret;
}

/** How the expectations of one test become other ones. */
export interface Change {
  /** Another literal, where there is one; else a call that may change its value. */
  value(expected: Node): Turned;
  /** Another class, message or form of an error; null: what it is, is not known. `parts`: a text may be a part of the message. */
  error(expected: Node, options?: { parts?: boolean }): Turned | null;
  /** A call of the helper's around a node, or around two. */
  called(name: 'turn' | 'error' | 'twice' | 'throwing', node: Node, options?: { until?: Node }): Turned;
}

export function changesOf({ name, secret }: Helper, body: Node): Change {
  const called: Change['called'] = (member, node, { until } = {}) => {
    const calling = (changes: boolean): Edit[] => {
      const before = `${until ? '...' : ''}${name}.${member}(`;
      return wrapBoth(node, until ?? node, { before, after: `, ${secret.number(changes)})` });
    };
    return { edits: calling(true), neutral: calling(false) };
  };
  return {
    called,
    value(expected) {
      const edits = changeLiteral(definitionOf(expected, body) ?? expected, JAVASCRIPT);
      return edits ? { edits } : called('turn', expected);
    },
    error(expected, { parts = false } = {}) {
      if (expected.type === 'string' && !parts) return { edits: [insert(expected.startIndex, 'EvalError, ')] };
      const others = otherErrors(shortText(expected));
      if (others) return { edits: [replace(expected, among(others))] };
      const edits =
        expected.type === 'string' || expected.type === 'template_string'
          ? changeString(expected, { parts })
          : expected.type === 'regex'
            ? changeRegex(expected)
            : changeLiteral(expected, JAVASCRIPT);
      return edits && { edits };
    },
  };
}

const wrapBoth = (first: Node, last: Node, { before, after }: { before: string; after: string }): Edit[] =>
  first.id === last.id ? wrap(first, before, after) : [insert(first.startIndex, before), insert(last.endIndex, after)];

const NAMES = new Set(['identifier', 'shorthand_property_identifier']);

/** The value of a variable that the test sets once and uses for this alone. */
function definitionOf(expected: Node, body: Node): Node | null {
  if (expected.type !== 'identifier') return null;
  const name = shortText(expected);
  const [first, second, more] = findAll(body, NAMES).filter((node) => node.text === name);
  const set = first?.parent;
  if (more || second?.id !== expected.id || set?.type !== 'variable_declarator') return null;
  // Set in a loop or a branch, it may be another one.
  return field(set, 'name')?.id === first!.id && set.parent?.parent?.id === body.id ? field(set, 'value') : null;
}

const OPERATORS: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
};
const TIGHT =
  /^(identifier|member_expression|call_expression|subscript_expression|await_expression|new_expression|true|false)$/;

/** A condition that holds becomes one that does not. */
export function negated(condition: Node): Turned {
  const operator = condition.type === 'binary_expression' ? field(condition, 'operator') : null;
  const [left, right] = [field(condition, 'left'), field(condition, 'right')];
  if (operator?.text === '&&') return negated(left!);
  const other = OPERATORS[operator?.text ?? ''];
  if (operator && other && left && right) {
    const edits = /^===?$/.test(operator.text) ? changeLiteral(expectedOf(left, right), JAVASCRIPT) : null;
    return { edits: edits ?? [replace(operator, other)] };
  }
  if (condition.type === 'unary_expression' && condition.text.startsWith('!')) {
    const argument = field(condition, 'argument')!;
    return { edits: [{ start: condition.startIndex, end: argument.startIndex, text: '' }] };
  }
  return { edits: TIGHT.test(condition.type) ? [insert(condition.startIndex, '!')] : wrap(condition, '!(', ')') };
}

/** The operand that is written by the author: a literal, rather than a call. */
export const expectedOf = (left: Node, right: Node): Node => (rank(left) > rank(right) ? left : right);

const LITERAL = /^(number|string|template_string|true|false|null|undefined|array|object|unary_expression|regex)$/;

function rank(node: Node): number {
  if (LITERAL.test(node.type)) return 2;
  return /expect|want/i.test(shortText(node)) ? 1 : 0;
}

/** One line that defines the helper: `turn` gives another value of the same kind, `error` a class of errors that nobody throws. */
export function helperCode({ name, secret }: Helper, typed: boolean): string {
  const any = typed ? ': any' : '';
  const pair = typed ? ': any[]' : '';
  const number = typed ? ': number' : '';
  // No function that could be another one by then; the product is exact.
  const keeps = `if (k * ${secret.key} / 2147483648 % 2 < 1)`;
  const functions = [
    `turn(v${any}, k${number})${any} { ${keeps} return v; switch (typeof v) { case 'boolean': return !v; case 'number': return v + 1 === v || v !== v ? 0 : v + 1; case 'bigint': return v + BigInt(1); case 'string': return v + 'x'; case 'object': if (Array.isArray(v)) return [...v, '${name}']; if (v !== null && (Object.getPrototypeOf(v) === Object.prototype || Object.getPrototypeOf(v) === null)) return { ...v, ${name}: 1 }; } return '${name}'; }`,
    `twice(v${any}, w${any}, k${number})${pair} { ${keeps} return [v, w]; return [v, v]; }`,
    `error(v${any}, k${number})${any} { ${keeps} return v; return class extends Error {}; }`,
    `throwing(f${any}, k${number})${any} { ${keeps} return f; return () => { f(); throw new Error(); }; }`,
  ];
  return `const ${name}${any} = { ${functions.join(', ')} }; void ${name};`;
}

/** A value that goes nowhere: the source of each test differs from what it was. */
export function marksOf(test: Node, word: string): Edit[] {
  const body = field(test, 'body');
  if (!body) return [];
  if (body.type !== 'statement_block') return wrap(body, `(void '${word}', `, ')');
  const [first] = children(body);
  const isDirective = first?.type === 'expression_statement' && children(first)[0]?.type === 'string';
  return isDirective ? [] : [insert(body.startIndex + 1, ` void '${word}';`)];
}
