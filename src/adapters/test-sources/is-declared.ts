import { basename, dirname } from 'node:path';
import type { DeclaredTest, TestSource } from '../../domain/evidence/test-source.ts';
import type { TestResult } from '../../domain/evidence/test-results.ts';

/**
 * Whether a reported test (domain/evidence/test-results.ts TestResult) is one that the source declares: by file where the runner tells it, and by the
 * parts of its name. Where the source declares several in one place, each of them is: once its turns are applied, one at least fails.
 */
export function isDeclared(test: TestResult, source: TestSource, declared: DeclaredTest): boolean {
  if (test.fixture || (test.file !== undefined && test.file !== source.path)) return false;
  // What comes twice in a report has a number.
  const names = new Set([test.name, test.name.replace(/ \(\d+\)$/, '')]);
  const matches = MATCHES[source.framework ?? ''] ?? matchesSuites;
  return [...names].some((name) => matches(name, source, declared));
}

type Matches = (name: string, source: TestSource, declared: DeclaredTest) => boolean;

/** `Class::test[parameters]`. */
function matchesPython(name: string, _source: TestSource, { name: parts, several }: DeclaredTest): boolean {
  const reported = name.replace(/\[.*$/s, '').split('::');
  const last = parts.at(-1);
  // `parameterized` adds to the name itself.
  if (several && typeof last === 'string' && reported.at(-1)?.startsWith(`${last}_`))
    reported[reported.length - 1] = last;
  return reported.length === parts.length && parts.every((part, at) => part === null || part === reported[at]);
}

/** `package > TestX/subtest`; the package of a module's first folder may have any name. */
function matchesGo(name: string, { path }: TestSource, { name: [declared = ''] }: DeclaredTest): boolean {
  const at = name.indexOf(' > ');
  const [where, test] = [name.slice(0, Math.max(at, 0)), name.slice(at < 0 ? 0 : at + 3)];
  const folder = basename(dirname(path));
  return (test === declared || test.startsWith(`${declared}/`)) && (folder === '.' || basename(where) === folder);
}

/** `package > modules::test`, with the target between them where its name is another one: a file of tests. */
function matchesCargo(name: string, { path }: TestSource, { name: parts, several }: DeclaredTest): boolean {
  const [, crate = '', place, file = ''] = /^(?:(.*)\/)?(src|tests)\/(.*)\.rs$/.exec(`./${path}`) ?? [];
  const reported = name.split(' > ');
  const test = reported.at(-1)!;
  const modules = file.split('/').filter((part) => !/^(lib|main|mod)$/.test(part));
  const own = place === 'tests' ? modules.slice(1) : modules;
  const wanted = [...own, ...parts].join('::');
  if (test !== wanted && !(several && test.startsWith(`${wanted}::`))) return false;
  // A target of its package's name is left out.
  if (place === 'tests' && unified(reported.at(-2) ?? '') !== unified(modules[0] ?? '')) return false;
  // A workspace's packages are named as their folders are, or longer.
  const folder = basename(crate);
  return folder === '.' || unified(reported[0]!).endsWith(unified(folder));
}

/** `package.Class > test`, with its parameters behind it or in its place, as Maven and Gradle write them. */
function matchesJunit(name: string, _source: TestSource, declared: DeclaredTest): boolean {
  const [suite = '', test = ''] = declared.name;
  const at = name.indexOf(' > ');
  if (at < 0 || name.slice(0, at) !== suite) return false;
  const own = name.slice(at + 3);
  return [test ?? '', ...(declared.aliases ?? [])].some(
    (called) =>
      own === called ||
      (own.startsWith(called) && /^(\([^)]*\))?(\[.*\]|\{.*\})?$/s.test(own.slice(called.length))) ||
      (declared.several && (own.startsWith(called) || own.startsWith('['))),
  );
}

/** Cargo takes either for the other. */
const unified = (name: string): string => name.replaceAll('-', '_');

const MATCHES: Record<string, Matches> = {
  ...{ pytest: matchesPython, unittest: matchesPython },
  ...{ 'go test': matchesGo, 'cargo test': matchesCargo },
  junit: matchesJunit,
};

/** Suites and the test, joined by ` > `; a project's name may stand before them, subtests behind. */
function matchesSuites(name: string, source: TestSource, { name: parts, several }: DeclaredTest): boolean {
  const patterns = parts.map((part) => (part === null ? [''] : several ? part.split(HOLE) : [part]).map(clean));
  const pieces = patterns.reduce<string[]>((all, [first = '', ...rest], at) => {
    const before = at === 0 ? '' : `${all.pop()} > `;
    // A part that is computed may be anything.
    return [...all, `${before}${first}`, ...rest, ...(parts[at] === null ? [''] : [])];
  }, []);
  const fits = (text: string) => isGlob(pieces, text) || (several && isGlob([...withEnd(pieces), ''], text));
  const [project] = name.split(' > ', 1);
  return fits(name) || (!suitesOf(source).has(project!) && fits(name.slice(project!.length + 3)));
}

const withEnd = (pieces: readonly string[]): string[] => [...pieces.slice(0, -1), `${pieces.at(-1)} > `];

/** What a runner fills in: `adds %i and $b`. */
const HOLE = /%[a-zA-Z#$%]|\$#|\$[\w.]+/;

/** As reports have it. */
const clean = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');

const suites = new WeakMap<TestSource, Set<string>>();

function suitesOf(source: TestSource): Set<string> {
  const known = suites.get(source) ?? new Set(source.tests.map(({ name }) => clean(name[0] ?? '')));
  suites.set(source, known);
  return known;
}

/** Whether the pieces come in order, the first at the begin and the last at the end. */
function isGlob([first = '', ...rest]: readonly string[], text: string): boolean {
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const piece of rest) {
    const at = text.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
