import { posix } from 'node:path';
import { scriptsOf } from '../../domain/repository/declared-dependencies.ts';

/** The text of a base's files that say what `npm test` and `make test` run, by path. */
export type Manifests = ReadonlyMap<string, string>;

export const MANIFESTS = ['**/package.json', '**/{Makefile,makefile,GNUmakefile,justfile}', '**/*.mk'];

/**
 * Programs of the base that are there to check, by their names, of those that the commands run: themselves, or by the scripts
 * and recipes that they name. `sh check.sh`, `.ci/run`, `npm test` for `node scripts/check.mjs`; not `sh greet.sh | grep hello`.
 */
export function checkersOf(
  commands: readonly string[],
  { base, manifests }: { base: readonly string[]; manifests: Manifests },
): Set<string> {
  const known = new Set(base);
  const recipes = [...manifests].flatMap(([path, text]) => recipesOf(path, text));
  const reached: Command[] = commands.map((text) => ({ text, dir: '.' }));
  const open = new Set(recipes);
  for (const command of reached)
    for (const recipe of open)
      if (isRunBy(recipe, command.text)) {
        open.delete(recipe);
        reached.push(...recipe.runs.map((text) => ({ text, dir: recipe.dir })));
      }
  return new Set(reached.flatMap(filesOf).filter((path) => known.has(path) && isChecker(path)));
}

interface Command {
  text: string;
  /** The manifest's folder; `.` is the top. */
  dir: string;
}

interface Recipe {
  /** Undefined: variables of a Makefile, whatever its target. */
  name: string | undefined;
  by: RegExp;
  /** Commands, and what of its own kind they lead to: dependencies by the word that would start them. */
  runs: string[];
  dir: string;
  /** Of a Makefile: what `make` alone makes. */
  first: boolean;
}

const NPM = /\b(?:npm|pnpm|yarn|bun|npx|run-[sp]|npm-run-all|turbo|nx|lerna|rush)\b/;
const MAKE = /\b(?:g?make|just)\b|\$[({]MAKE[)}]/;
export const readsManifests = (command: string): boolean => NPM.test(command) || MAKE.test(command);

function recipesOf(path: string, text: string): Recipe[] {
  const dir = posix.dirname(path);
  return posix.basename(path) === 'package.json'
    ? Object.entries(scriptsOf(text)).map(([name, script]) => ({ name, by: NPM, runs: [script], dir, first: false }))
    : targetsOf(text).map((target) => ({ ...target, by: MAKE, dir }));
}

function targetsOf(text: string): Pick<Recipe, 'name' | 'runs' | 'first'>[] {
  const targets: Pick<Recipe, 'name' | 'runs' | 'first'>[] = [];
  let now: Pick<Recipe, 'name' | 'runs' | 'first'>[] = [];
  for (const line of text.replace(/\\\n/g, ' ').split('\n')) {
    const variable = /^\s*(?:export )?[\w.-]+\s*(?:[:?+!]{0,2}=)(.*)/.exec(line);
    const rule = /^([^\s#:=][^#:=]*)::?(?!=)([^#]*)/.exec(line);
    if (/^\s+\S/.test(line) && now.length > 0) for (const target of now) target.runs.push(line);
    else if (variable) targets.push({ name: undefined, runs: [variable[1] ?? ''], first: false });
    else if (rule) {
      const [names = '', ...args] = (rule[1] ?? '').trim().split(/\s+/);
      const needs = rule[2]?.trim();
      const first = !names.startsWith('.') && !targets.some((target) => target.first);
      now = [names, ...args].map((name, i) => ({
        name,
        runs: needs ? [`make ${needs}`] : [],
        first: first && i === 0,
      }));
      targets.push(...now);
    }
  }
  return targets;
}

function isRunBy({ name, by, first }: Recipe, command: string): boolean {
  if (!by.test(command)) return false;
  if (name === undefined) return true;
  const words = wordsOf(command);
  if (first && /(?:\bg?make|\bjust|MAKE[)}])\s*(?:-\S+\s*)*(?:$|[;&|)])/.test(command)) return true;
  const plain = name.replace(/^(?:pre|post)(?=.)/, '');
  return words.some(
    (word) =>
      word === name ||
      (by === NPM && word === plain) ||
      (by === NPM && /^(?:t|tst)$/.test(word) && plain === 'test') ||
      (word.includes('*') && name.startsWith(word.slice(0, word.indexOf('*')))),
  );
}

const wordsOf = (command: string): string[] => command.split(/[\s;|&()<>{}'"`=@]+/).filter(Boolean);

/** Files that a command may mean, whether they are there or not. */
function filesOf({ text, dir }: Command): string[] {
  const modules = [...text.matchAll(/\s-m\s+([\w.]+)/g)].map(([, name = '']) => name.replaceAll('.', '/'));
  const words = [
    ...wordsOf(text).flatMap((word) => (word.includes('/') ? [word, ...bare(word)] : [word])),
    ...modules.flatMap((name) => [`${name}.py`, `${name}/__main__.py`]),
  ].map((word) => word.replace(/^\$?(?:PWD|CURDIR)\//, ''));
  const dirs = ['.', dir, ...[...text.matchAll(/\bcd\s+['"]?([\w./@-]+)/g)].map(([, to = '']) => posix.join(dir, to))];
  return words.flatMap((word) => dirs.map((from) => posix.join(from, word)));
}

/** What node and python make of a name without an ending. */
const bare = (word: string): string[] =>
  ['.js', '.mjs', '.cjs', '.ts', '/index.js', '/index.mjs', '/index.ts', '/__main__.py'].map((end) => word + end);

const whole = (words: string): RegExp => new RegExp(String.raw`(?:^|[._-])(?:${words})(?=[._-]|$)`, 'i');
const CHECKING = whole('checks?|tests?|run-?tests?|verify|validate|lint|ci|smoke|e2e|presubmit');
/** A product may well be called so, and what it does is in its sources. */
const CHECKING_SOURCE = whole('checks?|tests?|verify|lint');
const SOURCES = /^(?:src|lib|app|pkg|cmd|internal)$/;
const TOOLS = /^(?:scripts?|tools?|hack|dev|utils?)$/i;
const RUNS_ALL = /^(?:all|run|runner|run[._-]?all|suite|harness)(?:\.\w+)?$/i;

/** By whole words: not `cipher.py`, `checkout.js`, `city/run.sh`. */
export function isChecker(path: string): boolean {
  const parts = path.split('/').map((part) => part.replace(/([a-z\d])([A-Z])/g, '$1-$2'));
  const name = parts.at(-1) ?? '';
  const folders = parts.slice(0, -1);
  if (name === 'manage.py' || name.endsWith('.bats')) return true;
  if (folders.some((folder) => SOURCES.test(folder))) return CHECKING_SOURCE.test(name);
  return parts.some((part) => CHECKING.test(part)) || (folders.some((part) => TOOLS.test(part)) && RUNS_ALL.test(name));
}
