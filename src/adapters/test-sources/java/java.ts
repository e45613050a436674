import type { Node } from '@vscode/tree-sitter-wasm';
import type { DeclaredTest } from '../../../domain/evidence/test-source.ts';
import { helperClass, librariesOf } from './helper-source.ts';
import { javaTurns } from './turns.ts';
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

const METHODS = new Set(['method_declaration']);
const CALLS = new Set(['method_invocation']);
const TEST = /^(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)$/;
const SEVERAL = /^(ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Parameters)$/;
/** Tests on some machines, under a condition, or never. */
const OFF = /^(Disabled\w*|Enabled\w*|Ignore|DisplayNameGeneration)$/;
/** Runners of JUnit 4 that name tests as they are declared. */
const RUNNER = /^(JUnit4|BlockJUnit4ClassRunner|Parameterized|Mockito\w*|Spring\w*)(\.\w+)*\.class$/;
/** Extensions of JUnit 5 that let an error through. */
const EXTENSION = /^\{?\s*((Mockito|Spring|System|TempDir|Random)\w*\.class[,\s]*)*\}?$/;
const DEPTH_MAX = 20;

/** An annotation, or a method or class with those it has. */
interface Mark {
  name: string;
  args: Node[];
}

interface Place {
  node: Node;
  /** The package, and the classes around it. */
  outer: string;
  skipped: boolean;
  several: boolean;
  sure: boolean;
  depth: number;
}

/** JUnit 4 and 5, with AssertJ and Hamcrest. A class is named with its package; one in another after that and a `$`. */
export function readJava(root: Node, file: SourceFile): Found {
  const libraries = librariesOf(root);
  if (libraries.junit === null) return { framework: null, tests: [], shared: [] };
  const own = new Set(findAll(root, METHODS).map((method) => shortText(field(method, 'name'))));
  const context = { libraries, helper: file.freshName(), own };
  const pack = children(root).find(({ type }) => type === 'package_declaration');
  const outer = pack ? `${shortText(children(pack)[0] ?? null)}.` : '';
  const tests: DeclaredTest[] = [];
  const left: Place[] = children(root).map((node) => ({
    ...{ node, outer, skipped: false, several: false, sure: true, depth: 0 },
  }));
  for (let next = left.pop(); next; next = left.pop()) {
    const { node, depth } = next;
    if (node.type !== 'class_declaration' || depth > DEPTH_MAX) continue;
    const name = `${next.outer}${shortText(field(node, 'name'))}`;
    const within = placeOf(node, next);
    for (const member of children(field(node, 'body'))) {
      left.push({ ...within, node: member, outer: `${name}$`, depth: depth + 1 });
      if (member.type !== 'method_declaration') continue;
      const marks = marksOf(member);
      if (!marks.some((mark) => TEST.test(mark.name))) continue;
      const assumes = findAll(member, CALLS).some((call) => /^(assum|abort)/.test(shortText(field(call, 'name'))));
      const method = shortText(field(member, 'name'));
      // JUnit 5 passes over these.
      const isPrivate = /\b(private|static)\b/.test(wordsOf(member));
      const aliases = displayNames(marks);
      tests.push({
        name: [name, method],
        ...(aliases.length > 0 ? { aliases } : {}),
        several: within.several || marks.some((mark) => SEVERAL.test(mark.name)),
        skipped: within.skipped || assumes || isPrivate || marks.some((mark) => OFF.test(mark.name)),
        turns: marks.some((mark) => mark.name === 'TestFactory')
          ? []
          : javaTurns(member, { ...context, sure: within.sure, expected: expectedError(marks) }),
      });
    }
  }
  const turned = tests.some(({ turns }) => turns.length > 0);
  return {
    framework: tests.length > 0 ? 'junit' : null,
    tests: mergeTwins(tests.toReversed()),
    shared: turned ? [insert(file.text.length, `\n${helperClass(context.helper)}`)] : [],
  };
}

function placeOf(node: Node, { skipped, several, sure, depth }: Place): Pick<Place, 'skipped' | 'several' | 'sure'> {
  const marks = marksOf(node);
  const valueOf = (name: string) =>
    marks
      .find((mark) => mark.name === name)
      ?.args.map(shortText)
      .join('');
  const runner = valueOf('RunWith');
  const extensions = valueOf('ExtendWith');
  const abstract = /\babstract\b/.test(wordsOf(node));
  // A class in another runs where that is said.
  const alone = depth > 0 && !marks.some(({ name }) => name === 'Nested');
  return {
    skipped:
      skipped ||
      abstract ||
      alone ||
      marks.some(({ name }) => OFF.test(name)) ||
      (runner !== undefined && !RUNNER.test(runner)),
    several: several || Boolean(runner?.startsWith('Parameterized')),
    // What it inherits may stand in for an assertion.
    sure: sure && !field(node, 'superclass') && (extensions === undefined || EXTENSION.test(extensions)),
  };
}

/** JUnit 4: the error that a test is declared to end with. */
const expectedError = (marks: readonly Mark[]): Node | null => {
  const test = marks.find(({ name }) => name === 'Test');
  const pair = test?.args.find(({ type, text }) => type === 'element_value_pair' && /^expected\b/.test(text));
  return field(pair ?? null, 'value');
};

/** Gradle reports a test by this. */
const displayNames = (marks: readonly Mark[]): string[] =>
  marks
    .filter(({ name }) => name === 'DisplayName')
    .flatMap(({ args }) => args.filter(({ type }) => type === 'string_literal'))
    .map((literal) => shortText(literal).slice(1, -1));

const wordsOf = (node: Node): string =>
  (modifiersOf(node)?.children ?? []).map((child) => (child && !child.isNamed ? child.type : '')).join(' ');

const modifiersOf = (node: Node): Node | null => children(node).find(({ type }) => type === 'modifiers') ?? null;

const marksOf = (node: Node): Mark[] =>
  children(modifiersOf(node))
    .filter(({ type }) => type.endsWith('annotation'))
    .map((annotation) => ({
      name: shortText(field(annotation, 'name')).split('.').at(-1)!,
      args: children(field(annotation, 'arguments')),
    }));
