import type { Node } from '@vscode/tree-sitter-wasm';
import type { DeclaredTest, Edit } from '../../../domain/evidence/test-source.ts';
import { children, field, findAll, insert, shortText, type Found, type SourceFile } from '../shared/nodes.ts';
import { word } from '../shared/literals.ts';
import { helpersIn, type Helpers } from './helpers.ts';
import { pythonTurns, type PythonHelpers } from './turns.ts';
import { Secret } from '../shared/secret.ts';

const FUNCTIONS = new Set(['function_definition']);
const SCOPES = new Set(['function_definition', 'class_definition', 'decorated_definition', 'lambda']);
const SKIPS = /(^|\.)(skip|skipTest|skipif|xfail|importorskip|SkipTest)$/;
const SKIPPING = new Set(['call', 'raise_statement']);
const SKIP_MARK = /skip|xfail|expectedfailure/i;
/** Runs the test once at least, as it is written. */
const PLAIN_DECORATOR =
  /^@(pytest\.mark\.|(unittest\.)?(mock\.)?patch\b|override_settings\b|staticmethod$|classmethod$|freeze_time\b)/;
const SEVERAL_DECORATOR = /parametrize|parameterized|\bddt\b|@data\b|@given\b/;
/** Their assertions do as they are documented. */
const KNOWN_BASE =
  /^((unittest|django\.test|test)\.)?(TestCase|IsolatedAsyncioTestCase|SimpleTestCase|TransactionTestCase)$/;
/** What such a class checks with. */
const UNITTEST =
  /^(fail|_\w*[aA]ssert\w*|assert(Not)?(Equal|AlmostEqual|Is|IsInstance|In|Regex|IsNone)|assertIsNot(None)?|assert(True|False)|assert(Raises|Warns)(Regex)?|assert(No)?Logs|assert(List|Dict|Tuple|Set|Sequence|MultiLine|Count)Equal|assert(Greater|Less)(Equal)?)$/;
const KNOWN_MODULE = /^from\s+(unittest|unittest\.case|django\.test)\s/;

interface Definition {
  node: Node;
  /** The texts of its decorators. */
  decorators: string[];
  /** Defined below an `if` or the like: perhaps not at all. */
  maybe: boolean;
}

interface TestClass {
  collected: boolean;
  /** Methods of unittest that mean what they are documented to; null: it is no class of unittest. */
  unittest: 'plain' | 'own' | null;
  /** Its coroutines are awaited. */
  waits: boolean;
}

/** pytest and unittest. Code of the file that skips outside of a test may skip any of them. */
export function readPython(root: Node, file: SourceFile): Found {
  const definitions = definitionsIn(root);
  const classes = definitions.filter(({ node }) => node.type === 'class_definition');
  const known = new Map<string, TestClass>();
  const bases = new Set(classes.flatMap(({ node }) => basesOf(node)));
  const helpers: PythonHelpers = { turned: file.freshName(), nan: file.freshName(), secret: new Secret() };
  const tests = new Map<string, DeclaredTest>();
  const plain = knownBases(root);
  const functions = helpersIn(definitions, root);
  let usesUnittest = false;
  const add = (test: DeclaredTest) => tests.set(JSON.stringify(test.name), test);
  const addAll = (
    found: Definition[],
    within: { suites: (string | null)[]; skipped: boolean; class: TestClass | null; methods: Helpers },
  ) => {
    for (const definition of found) {
      const { node, decorators, maybe } = definition;
      const name = shortText(field(node, 'name'));
      const skipped = within.skipped || maybe || decorators.some((text) => SKIP_MARK.test(text));
      if (node.type === 'class_definition') {
        const body = definitionsIn(field(node, 'body'));
        const kind = kindOf({ node, body }, known, plain);
        known.set(name, kind);
        if (kind.unittest) usesUnittest = true;
        // A class that others inherit from may run under their names alone.
        const inherited = bases.has(name);
        if (!kind.collected && !inherited) continue;
        const off = /__test__\s*=\s*False/.test(headOf(field(node, 'body')));
        const suites = [...within.suites, inherited ? null : name];
        addAll(body, { suites, skipped: skipped || off || !kind.collected, class: kind, methods: helpersIn(body) });
      } else if (name.startsWith('test') && (within.class !== null || within.suites.length === 0)) {
        const sureOf = isSure(definition, within.class);
        add({
          name: [...within.suites, name],
          several: decorators.some((text) => SEVERAL_DECORATOR.test(text)) || within.suites.includes(null),
          skipped: skipped || skips(node),
          turns: pythonTurns(node, {
            helpers,
            sure: sureOf,
            unittest: Boolean(within.class?.unittest),
            text: file.text,
            functions,
            methods: within.methods,
          }),
          marks: marksOf(definition),
        });
      }
    }
  };
  addAll(definitions, { suites: [], skipped: skipsOutside(root), class: null, methods: new Map() });
  const found = [...tests.values()];
  if (found.length === 0) return { framework: null, tests: [], shared: [] };
  const pytest = /\bpytest\b/.test(file.text) || !usesUnittest || found.some(({ name }) => name.length === 1);
  const calls = found.some(({ turns }) => turns.some(({ neutral }) => neutral));
  const shared = calls ? [helperCode(root, helpers)] : [];
  return { framework: pytest ? 'pytest' : 'unittest', tests: found, shared };
}

/** Functions and classes of a module's or a class's body, also those below conditions. */
function definitionsIn(body: Node | null): Definition[] {
  const found: Definition[] = [];
  const left = children(body).map((node) => ({ node, maybe: false }));
  while (left.length > 0) {
    const { node, maybe } = left.shift()!;
    const inner = node.type === 'decorated_definition' ? field(node, 'definition') : node;
    if (inner?.type === 'function_definition' || inner?.type === 'class_definition') {
      const decorators = inner === node ? [] : children(node).filter(({ type }) => type === 'decorator');
      found.push({ node: inner, decorators: decorators.map(({ text }) => text), maybe });
    } else if (/^(if|try|with|for|while|match)_statement$/.test(node.type)) {
      for (const type of ['block', 'else_clause', 'elif_clause', 'except_clause', 'finally_clause', 'case_clause'])
        for (const block of children(node).filter((child) => child.type === type))
          left.push(
            ...children(block)
              .flatMap((child) => (child.type === 'block' ? children(child) : [child]))
              .map((child) => ({ node: child, maybe: true })),
          );
    }
  }
  return found;
}

const basesOf = (node: Node): string[] => children(field(node, 'superclasses')).map(shortText);

/** `plain`: whether a base is a class whose assertions are known. */
function kindOf(
  { node, body }: { node: Node; body: Definition[] },
  known: ReadonlyMap<string, TestClass>,
  plain: (base: string) => boolean,
): TestClass {
  const bases = basesOf(node).filter((base) => base !== 'object');
  const names = body.map((definition) => shortText(field(definition.node, 'name')));
  const isUnittest = bases.some((base) => plain(base) || base.endsWith('TestCase') || known.get(base)?.unittest);
  const own =
    names.some((name) => UNITTEST.test(name)) ||
    bases.some((base) => !plain(base) && (known.get(base)?.unittest ?? 'own') === 'own');
  return {
    collected: isUnittest || (shortText(field(node, 'name')).startsWith('Test') && !names.includes('__init__')),
    unittest: isUnittest ? (own ? 'own' : 'plain') : null,
    waits: bases.some((base) => base.endsWith('IsolatedAsyncioTestCase') || known.get(base)?.waits),
  };
}

/** A class of this name that the file imports from somewhere else is another one. */
function knownBases(root: Node): (base: string) => boolean {
  const foreign = children(root)
    .filter(({ type, text }) => type === 'import_from_statement' && !KNOWN_MODULE.test(text))
    .flatMap((node) => children(node).slice(1))
    .map((name) => shortText(field(name, 'alias') ?? name));
  return (base) => KNOWN_BASE.test(base) && !foreign.includes(base);
}

/** Whether its body runs whenever it is reported as passed, and fails where an assertion of it does. */
function isSure({ node, decorators }: Definition, within: TestClass | null): boolean {
  const plain = decorators.every((text) => PLAIN_DECORATOR.test(text) || /^@parameterized(\.expand)?\(/.test(text));
  // Nobody awaits a coroutine in a class that is not made for it.
  const lost = node.text.startsWith('async') && Boolean(within?.unittest) && !within?.waits;
  const generator = findAll(node, new Set(['yield']), SCOPES).length > 0;
  return plain && !lost && !generator && within?.unittest !== 'own';
}

function skips(node: Node, without?: ReadonlySet<string>): boolean {
  return findAll(node, SKIPPING, without).some((found) =>
    SKIPS.test(
      shortText(found.type === 'call' ? field(found, 'function') : (children(found)[0] ?? null)).replace(/\(.*$/s, ''),
    ),
  );
}

/** At module level, in a hook, a fixture or another function that is no test. */
function skipsOutside(root: Node): boolean {
  const isTest = (node: Node) => shortText(field(node, 'name')).startsWith('test');
  const functions = findAll(root, FUNCTIONS, FUNCTIONS).filter((node) => !isTest(node));
  const isMark = (node: Node) => /^pytestmark\b/.test(node.text) && SKIP_MARK.test(node.text);
  return (
    children(root).some((node) => !SCOPES.has(node.type) && (isMark(node) || skips(node, SCOPES))) ||
    functions.some((node) => skips(node))
  );
}

const headOf = (body: Node | null): string =>
  children(body)
    .filter(({ type }) => type === 'expression_statement')
    .map(shortText)
    .join('\n');

/** On a line that is there, where one is: before the first import that is none of `__future__`, as far as possible. */
function helperCode(root: Node, helpers: PythonHelpers): Edit {
  const code = `exec(${JSON.stringify(codeOf(helpers))})`;
  const statements = children(root);
  const first = statements.findIndex(
    (node, index) =>
      node.type !== 'future_import_statement' &&
      !(index === 0 && node.type === 'expression_statement' && children(node)[0]?.type === 'string'),
  );
  const before = statements[first - 1];
  if (before) return insert(before.endIndex, `; ${code}`);
  const next = statements[first];
  const simple = next && /^(import_statement|import_from_statement|expression_statement)$/.test(next.type);
  return insert(next?.startIndex ?? 0, simple ? `${code}; ` : `${code}\n`);
}

/** What it needs is bound now, before the code under test is loaded. */
const codeOf = ({ turned, nan, secret }: PythonHelpers): string => `
def ${turned}(v, k, a=isinstance, b=bool, n=(int, float, complex), s=str, y=(bytes, bytearray), l=list, t=tuple, d=dict, e=(set, frozenset), o=object):
    if k * ${secret.key} >> 31 & 1 == 0: return v
    if a(v, b): return not v
    if a(v, n): return v + 1 if v + 1 != v and v == v else 0
    if a(v, s): return v + 'x'
    if a(v, y): return v + b'x'
    if a(v, l): return v + [o()]
    if a(v, t): return v + (o(),)
    if a(v, d): return {**v, o(): 1}
    if a(v, e): return v | {o()}
    return o()
def ${nan}(v, k, n=float('nan')):
    return n if k * ${secret.key} >> 31 & 1 else v
`;

/** One more parameter, that is never given: the source of each test differs from what it was. */
function marksOf({ node, decorators }: Definition): Edit[] {
  const parameters = field(node, 'parameters')!;
  const all = children(parameters);
  const plain = all.every(({ type }) =>
    /^(identifier|typed_parameter|default_parameter|typed_default_parameter)$/.test(type),
  );
  if (!plain || all.some((one) => one.text.startsWith('*')) || decorators.some((text) => !PLAIN_DECORATOR.test(text)))
    return [];
  const text = `*, ${word()}=None`;
  const last = all.at(-1);
  return [last ? insert(last.endIndex, `, ${text}`) : insert(parameters.startIndex + 1, text)];
}
