import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import { changeString, lowerNumber } from '../shared/literals.ts';
import { children, field, findAll, replace, shortText } from '../shared/nodes.ts';

const FUNCTIONS = new Set(['function_declaration', 'func_literal']);
const ENDS = new Set(['return_statement', 'goto_statement', 'go_statement', 'defer_statement']);
const NAMES = new Set(['identifier']);
const SHORT = new Set(['short_var_declaration', 'var_spec']);
const CALLS = new Set(['call_expression']);

/** A function of the file that fails its test, called by tests with their `t` first. */
interface Helper {
  body: Node;
  /** The name of its `*testing.T`. */
  t: string;
  /** Names of all its parameters. */
  names: string[];
}

/** `assertEqual(t, got, 5)`: the helper that is called, where it does what it says whenever it is called. */
export function helperOf(call: Node, t: string): Helper | null {
  const name = shortText(field(call, 'function'));
  const [first] = children(field(call, 'arguments'));
  if (field(call, 'function')?.type !== 'identifier' || shortText(first ?? null) !== t) return null;
  const defined = children(call.tree.rootNode).filter(
    (node) => node.type === 'function_declaration' && shortText(field(node, 'name')) === name,
  );
  const body = field(defined[0] ?? null, 'body');
  // In a test, the name may be something else.
  const bound = findAll(call.tree.rootNode, SHORT).some((one) =>
    children(one)[0]
      ?.text.split(/[,\s]+/)
      .includes(name),
  );
  if (!body || bound || defined.length > 1 || field(defined[0]!, 'type_parameters')) return null;
  if (findAll(body, ENDS, FUNCTIONS).length > 0 || /skip|exit\(/i.test(body.text)) return null;
  const names = children(field(defined[0]!, 'parameters')).flatMap((one) =>
    one.type === 'parameter_declaration'
      ? children(one).flatMap((child) => (child.type === 'identifier' ? [child.text] : []))
      : [''],
  );
  const [own = ''] = names;
  return /^\*testing\.T$|^testing\.TB$/.test(typeOf(defined[0]!)) && own !== '' ? { body, t: own, names } : null;
}

const typeOf = (node: Node): string => shortText(field(children(field(node, 'parameters'))[0] ?? null, 'type'));

/**
 * The literal that is given for a parameter of which a condition says that something differs from it: another one. A parameter that the
 * helper uses for anything else than to say what is wrong is left.
 */
export function inGoHelper(call: Node, { body, t, names }: Helper, conditions: readonly Node[]): Edit[] | null {
  const given = children(field(call, 'arguments'));
  const said = new Set(
    findAll(body, CALLS)
      .filter((one) => shortText(field(one, 'function')).startsWith(`${t}.`))
      .flatMap((one) => findAll(field(one, 'arguments')!, NAMES).map(({ id }) => id)),
  );
  const used = findAll(body, NAMES).filter(({ id }) => !said.has(id));
  for (const condition of conditions) {
    if (condition.type !== 'binary_expression' || field(condition, 'operator')?.text !== '!=') continue;
    for (const operand of [field(condition, 'right')!, field(condition, 'left')!]) {
      const at = operand.type === 'identifier' ? names.indexOf(operand.text) : -1;
      if (at < 0 || used.filter(({ text }) => text === operand.text).length > 1) continue;
      const edits = given[at] ? changedLiteral(given[at]) : null;
      if (edits) return edits;
    }
  }
  return null;
}

/** Another literal of its type. */
function changedLiteral(node: Node): Edit[] | null {
  switch (node.type) {
    case 'int_literal':
    case 'float_literal': {
      const text = lowerNumber(node.text);
      return text === null ? null : [replace(node, text)];
    }
    case 'interpreted_string_literal':
      return changeString(node);
    case 'true':
    case 'false':
      return [replace(node, node.type === 'true' ? 'false' : 'true')];
    case 'unary_expression': {
      const operand = field(node, 'operand');
      return operand && node.text.startsWith('-') && /^(int|float)_literal$/.test(operand.type)
        ? changedLiteral(operand)
        : null;
    }
    default:
      return null;
  }
}
