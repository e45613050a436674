import type { Node } from '@vscode/tree-sitter-wasm';
import type { DeclaredTest, Edit } from '../../../domain/evidence/test-source.ts';
import { bindingsOf, type Bindings } from './bindings.ts';
import { helperCode, marksOf, type Helper } from './changes.ts';
import { helpersIn } from './helpers.ts';
import { javascriptTurns } from './turns.ts';
import { word } from '../shared/literals.ts';
import {
  children,
  field,
  findAll,
  insert,
  mergeTwins,
  shortText,
  type Found,
  type SourceFile,
} from '../shared/nodes.ts';
import { Secret } from '../shared/secret.ts';

const SUITES = new Set(['describe', 'context', 'suite', 'xdescribe', 'fdescribe', 'xcontext', 'ddescribe']);
const TESTS = new Set(['test', 'it', 'specify', 'xtest', 'xit', 'xspecify', 'fit', 'ftest']);
const FUNCTION =
  /^(arrow_function|function_expression|function_declaration|generator_function|method_definition|function)/;
const CONDITION = /^(if_statement|switch_statement|ternary_expression|try_statement|binary_expression)$/;
const LOOP = /^(for_statement|for_in_statement|while_statement|do_statement)$/;
const MODIFIER = /^(only|skip|todo|each|for|concurrent|sequential|serial|failing|fails|fail|skipIf|runIf|shuffle)$/;
const SKIPPING = /^(skip|todo|skipIf|runIf|failing|fails|fail)$/;

/** More are nobody's tests. */
const SUITES_MAX = 100;
const WORDS_MAX = 10;

interface Place {
  suites: (string | null)[];
  skipped: boolean;
  several: boolean;
  only: boolean;
}

/** A call that declares a suite or a test. */
interface Declaration {
  isSuite: boolean;
  name: string | null;
  body: Node | null;
  several: boolean;
  skipped: boolean;
  only: boolean;
}

/** node:test, jest, vitest and mocha, with node:assert, expect and chai. */
export function readJavascript(root: Node, file: SourceFile): Found {
  const bindings = bindingsOf(root);
  const helper = { name: file.freshName(), secret: new Secret() };
  const functions = helpersIn(root);
  const found: (DeclaredTest & { only: boolean })[] = [];
  const left: { node: Node; parent: Node | null; place: Place }[] = [
    { node: root, parent: null, place: { suites: [], skipped: false, several: false, only: false } },
  ];
  for (let next = left.pop(); next; next = left.pop()) {
    const { node, parent, place } = next;
    if (place.suites.length > SUITES_MAX) throw new RangeError('too many suites in each other');
    const declared = node.type === 'call_expression' ? declarationIn({ call: node, parent }, bindings) : null;
    if (!declared) {
      const inner = placeWithin({ node, parent }, place);
      left.push(
        ...children(node)
          .map((child) => ({ node: child, parent: node, place: inner }))
          .toReversed(),
      );
      continue;
    }
    const within = {
      suites: [...place.suites, declared.name],
      skipped: place.skipped || declared.skipped,
      several: place.several || declared.several,
      only: place.only || declared.only,
    };
    if (declared.isSuite) {
      const body = field(declared.body, 'body');
      if (body) left.push({ node: body, parent: declared.body, place: within });
      continue;
    }
    const { body } = declared;
    found.push({
      name: within.suites,
      several: within.several || (body !== null && hasSubtests(body)),
      skipped: within.skipped || body === null || skips(body),
      turns: body === null ? [] : javascriptTurns(body, { bindings, helper, functions }),
      marks: body === null ? [] : marksOf(body, word()),
      only: within.only,
    });
  }
  if (found.length === 0) return { framework: null, tests: [], shared: [] };
  // Where one is to run alone, the others do not.
  const alone = found.some(({ only }) => only);
  const tests = mergeTwins(found.map(({ only, ...test }) => ({ ...test, skipped: test.skipped || (alone && !only) })));
  const calls = tests.some(({ turns }) => turns.some(({ neutral }) => neutral));
  const shared = calls ? [sharedCode(root, helper, file)] : [];
  return { framework: bindings.framework ?? guess(file.text), tests, shared };
}

/** Those without an import: by what else the file uses. */
const guess = (text: string): string =>
  /\bchai\b|\.to\.(be|equal|deep)|node:assert|'assert'/.test(text) ? 'mocha' : 'jest';

function placeWithin({ node, parent }: { node: Node; parent: Node | null }, place: Place): Place {
  if (CONDITION.test(node.type)) return { ...place, skipped: true };
  if (LOOP.test(node.type)) return { ...place, several: true };
  // A function that nobody may call, in suites that are not known.
  if (FUNCTION.test(node.type) && parent?.type !== 'arguments')
    return { ...place, suites: [null], skipped: true, several: true };
  return FUNCTION.test(node.type) ? { ...place, several: true } : place;
}

function declarationIn({ call, parent }: { call: Node; parent: Node | null }, bindings: Bindings): Declaration | null {
  const words: string[] = [];
  let tabled = false;
  let callee = field(call, 'function');
  for (; callee && words.length <= WORDS_MAX;) {
    if (callee.type === 'member_expression') {
      words.unshift(shortText(field(callee, 'property')));
      callee = field(callee, 'object');
    } else if (callee.type === 'call_expression') {
      tabled = true;
      callee = field(callee, 'function');
    } else break;
  }
  if (callee?.type !== 'identifier') return null;
  const base = callee.text;
  const word = bindings.testWord(base, words);
  if (word === null || (!SUITES.has(word) && !TESTS.has(word))) return null;
  if (!words.every((one) => MODIFIER.test(one))) return null;
  // `test.each(table)` declares nothing yet.
  const table = words.some((one) => one === 'each' || one === 'for');
  const held = parent?.type === 'call_expression' && field(parent, 'function')?.id === call.id;
  if ((table || words.some((one) => one.endsWith('If'))) && !tabled && held) return null;
  const args = children(field(call, 'arguments'));
  const [first] = args;
  if (!first) return null;
  const conditional = words.some((one) => SKIPPING.test(one)) || word.startsWith('x');
  const body = args.findLast(({ type }) => FUNCTION.test(type)) ?? null;
  const options = args.filter(({ type }) => type === 'object');
  return {
    isSuite: SUITES.has(word),
    name: stringOf(first),
    body,
    several: table,
    skipped: conditional || options.some(isSkipping) || (body === null && TESTS.has(word)),
    only: words.includes('only') || /^(f|dd)/.test(word),
  };
}

const isSkipping = (options: Node): boolean =>
  children(options).some(
    (pair) =>
      /^['"]?(skip|todo|expectFailure|fails)['"]?$/.test(shortText(field(pair, 'key') ?? pair)) &&
      field(pair, 'value')?.text !== 'false',
  );

/** Null where it is computed. */
function stringOf(node: Node): string | null {
  if (node.type === 'template_string' && children(node).every(({ type }) => !/substitution/.test(type)))
    return unescape(node.text.slice(1, -1));
  return node.type === 'string' ? unescape(node.text.slice(1, -1)) : null;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', '0': '\0' };

const unescape = (text: string): string =>
  text.replace(/\\(u\{[\da-fA-F]{1,6}\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|\r\n|[\s\S])/g, (_whole, escape: string) => {
    const code = Number.parseInt(escape.replace(/^[ux]\{?/, ''), 16);
    if (/^[ux]./.test(escape)) return code <= 0x10ffff ? String.fromCodePoint(code) : '';
    return /[\r\n]/.test(escape) ? '' : (ESCAPES[escape] ?? escape);
  });

const CALLS = new Set(['call_expression']);

const hasSubtests = (body: Node): boolean =>
  findAll(body, CALLS).some((call) => /^(t|ctx|context)\.(test|it|describe)$/.test(shortText(field(call, 'function'))));

const skips = (body: Node): boolean =>
  findAll(body, CALLS).some((call) => /^[\w.]+\.(skip|todo)$/.test(shortText(field(call, 'function'))));

/** Before the first statement, on its line; behind directives such as 'use strict'. */
function sharedCode(root: Node, helper: Helper, { path }: SourceFile): Edit {
  const isDirective = (node: Node) =>
    node.type === 'hash_bang_line' || (node.type === 'expression_statement' && children(node)[0]?.type === 'string');
  const first = children(root).find((node) => !isDirective(node));
  return insert(first?.startIndex ?? 0, `${helperCode(helper, /\.[cm]?tsx?$/.test(path))} `);
}
