import type { Node } from '@vscode/tree-sitter-wasm';
import { children, field, shortText } from '../shared/nodes.ts';

/** What the names of a file stand for that its tests are written with. */
export interface Bindings {
  /** By what the file imports; null: it imports no framework. */
  framework: string | null;
  /** `describe`, `it` and the like behind a name and its members, which are cut to those behind it; null: it is something else. */
  testWord(name: string, members: string[]): string | null;
  /** The assertion that a name with its members is, e.g. `strictEqual`; `assert` for the function itself. Null: it is none. */
  assertion(name: string, members: readonly string[]): string | null;
  /** Whether a name is `expect` of jest, vitest or chai. */
  isExpect(name: string): boolean;
}

const FRAMEWORKS: Record<string, string> = {
  'node:test': 'node:test',
  test: 'node:test',
  vitest: 'vitest',
  '@jest/globals': 'jest',
  mocha: 'mocha',
};
const ASSERTS = /^((node:)?assert(\/strict)?|chai)$/;
const EXPECTS = /^(vitest|@jest\/globals|chai)$/;
const DEFAULT = 'default';

interface Binding {
  module: string;
  /** The exported name; `default` for the module itself. */
  name: string;
}

/** What imports and requires at the top of the file bind. A name that is not bound there is a global one. */
export function bindingsOf(root: Node): Bindings {
  const bound = new Map<string, Binding>();
  const declared = new Set<string>();
  for (const statement of children(root)) {
    if (statement.type === 'import_statement') addImport(statement, bound);
    if (/^(lexical|variable)_declaration$/.test(statement.type))
      for (const declarator of children(statement)) addRequire(declarator, bound, declared);
    if (/^(function|class)_declaration$/.test(statement.type)) declared.add(shortText(field(statement, 'name')));
  }
  const frameworks = [...bound.values()].flatMap(({ module }) => FRAMEWORKS[module] ?? []);
  const isGlobal = (name: string) => !bound.has(name) && !declared.has(name);
  return {
    framework: frameworks[0] ?? null,
    testWord(name, members) {
      const binding = bound.get(name);
      if (!binding) return isGlobal(name) ? name : null;
      if (!FRAMEWORKS[binding.module]) return null;
      if (binding.name !== DEFAULT) return binding.name;
      // The module of node:test is its function `test`, and has the others as members.
      if (members[0] !== undefined && /^(test|it|describe|suite)$/.test(members[0])) return members.shift()!;
      return FRAMEWORKS[binding.module] === 'node:test' ? 'test' : null;
    },
    assertion(name, members) {
      const binding = bound.get(name);
      // A test's context has assertions of its own.
      if (!binding && /^(t|ctx|context)$/.test(name) && members[0] === 'assert') return members[1] ?? 'assert';
      if (!binding || !ASSERTS.test(binding.module)) return null;
      const words = [binding.name, ...members].filter((word) => word !== DEFAULT && word !== 'strict');
      const own = words.filter((word) => word !== 'assert');
      if (binding.module === 'chai' && !words.includes('assert')) return null;
      return own.length > 1 ? null : (own[0] ?? 'assert');
    },
    isExpect(name) {
      const binding = bound.get(name);
      if (!binding) return name === 'expect' && isGlobal(name);
      return EXPECTS.test(binding.module) && binding.name === 'expect';
    },
  };
}

function addImport(statement: Node, bound: Map<string, Binding>): void {
  const module = stringIn(field(statement, 'source'));
  const clause = children(statement).find(({ type }) => type === 'import_clause');
  for (const part of children(clause ?? null)) {
    if (part.type === 'identifier') bound.set(part.text, { module, name: DEFAULT });
    if (part.type === 'namespace_import') bound.set(shortText(children(part)[0] ?? null), { module, name: DEFAULT });
    for (const specifier of part.type === 'named_imports' ? children(part) : []) {
      const name = shortText(field(specifier, 'name'));
      bound.set(shortText(field(specifier, 'alias')) || name, { module, name });
    }
  }
}

/** `require('m')`, a member of it, and a member of what was bound before. */
function addRequire(declarator: Node, bound: Map<string, Binding>, declared: Set<string>): void {
  const [name, value] = [field(declarator, 'name'), field(declarator, 'value')];
  const from = value && originOf(value, bound);
  if (!name) return;
  if (name.type === 'identifier') {
    if (from) bound.set(name.text, from);
    else declared.add(name.text);
  }
  if (name.type !== 'object_pattern') return;
  for (const part of children(name)) {
    const key = shortText(field(part, 'key') ?? part);
    const local = shortText(field(part, 'value') ?? part);
    if (from) bound.set(local, { module: from.module, name: key });
    else declared.add(local);
  }
}

function originOf(value: Node, bound: ReadonlyMap<string, Binding>): Binding | null {
  if (value.type === 'identifier') return bound.get(value.text) ?? null;
  if (value.type === 'member_expression') {
    const from = originOf(field(value, 'object')!, bound);
    const name = shortText(field(value, 'property'));
    return from && { module: from.module, name: name === 'strict' ? DEFAULT : name };
  }
  const [argument] = children(field(value, 'arguments'));
  return value.type === 'call_expression' && field(value, 'function')?.text === 'require' && argument
    ? { module: stringIn(argument), name: DEFAULT }
    : null;
}

const stringIn = (node: Node | null): string => (node?.type === 'string' ? node.text.slice(1, -1) : '');
