import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';

/** Text by path, relative to the root of a repository. */
export type Files = Readonly<Record<string, string>>;

/** One exercise of a folder in Exercism's layout. */
export interface Exercise {
  language: string;
  slug: string;
  /** All that a person gets to begin with: the stub, the tests with none of them left out, manifests. */
  files: Files;
  /** Paths of the stubs, and of the tests with what only they read. */
  solution: readonly string[];
  tests: readonly string[];
  /** The author's own solution, as files that replace or join the stubs. */
  reference: Files;
  /** Solutions written by hand that only look right, by kind: `.meta/cheats/<kind>.<extension>`. */
  cheats: Files;
}

interface Config {
  files: Partial<Record<'solution' | 'test' | 'example' | 'exemplar' | 'editor', string[]>>;
}

/** Exercises of one language, in the order of their names. @throws where the folder has none */
export async function readExercises(folder: string, language: string, only?: string): Promise<Exercise[]> {
  const root = join(folder, language, 'exercises/practice');
  const slugs = (await readdir(root)).sort().filter((slug) => !only || slug === only);
  return Promise.all(slugs.map((slug) => readExercise(join(root, slug), { language, slug })));
}

async function readExercise(dir: string, { language, slug }: Pick<Exercise, 'language' | 'slug'>): Promise<Exercise> {
  const config = JSON.parse(await readFile(join(dir, '.meta/config.json'), 'utf8')) as Config;
  const { solution = [], test = [], editor = [] } = config.files;
  const paths = await pathsIn(dir);
  const text = async (path: string) => [path, await readFile(join(dir, path), 'utf8')] as const;
  const tests = [...test, ...editor.filter((path) => /test|cases/i.test(path))];
  const given = await Promise.all(paths.filter((path) => !UNUSED.test(path)).map(text));
  const examples = await Promise.all([...(config.files.example ?? config.files.exemplar ?? [])].map(text));
  const cheats = await Promise.all(paths.filter((path) => path.startsWith('.meta/cheats/')).map(text));
  const manifest = paths.includes('.meta/Cargo-example.toml') ? [await text('.meta/Cargo-example.toml')] : [];
  return {
    ...{ language, slug, solution, tests },
    files: Object.fromEntries(given.map(([path, said]) => [path, tests.includes(path) ? whole(path, said) : said])),
    reference: Object.fromEntries([
      ...examples.map(([path, said]) => [placeOf(path, solution), said] as const),
      ...manifest.map(([, said]) => ['Cargo.toml', said] as const),
    ]),
    cheats: Object.fromEntries(cheats.map(([path, said]) => [basename(path, extname(path)), said])),
  };
}

/** Gradle is not asked for anywhere: Maven builds what is Java. */
const UNUSED = /^(?:\.meta|\.docs|gradle)\/|^gradlew|^build\.gradle$|^LICENSE$|^\.npmrc$|^\.eslint|^node_modules\//;

async function pathsIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
}

/** An example stands in for the stub of its name, else for the first stub in its language; others lie beside that. */
function placeOf(path: string, solution: readonly string[]): string {
  const stubs = solution.filter((stub) => extname(stub) === extname(path));
  const same = stubs.find((stub) => basename(stub) === basename(path));
  if (same) return same;
  const [first = basename(path)] = stubs;
  return extname(path) === '.java' ? join(first, '..', basename(path)) : first;
}

/** Exercism leaves all tests but the first out, for people to let in one by one. */
function whole(path: string, text: string): string {
  if (/\.[jt]s$/.test(path))
    return text.replace(/\bx(test|it|describe)\b/g, '$1').replace(/\b(test|it|describe)\.skip\b/g, '$1');
  if (path.endsWith('.rs')) return text.replace(/^\s*#\[ignore[^\]]*\]\n/gm, '');
  if (path.endsWith('.java')) return text.replace(/^\s*@Disabled.*\n/gm, '').replace(/^import .*\.Disabled;\n/gm, '');
  return text;
}
