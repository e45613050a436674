import { treeEntries } from '../../adapters/git/entries.ts';
import { matches } from '../../adapters/glob.ts';
import type { Tried } from '../../ports.ts';
import { readTexts } from '../../adapters/git/worktree/read-texts.ts';

/** What may say which tests are run, besides the commands and the files that they name. */
const CONFIG = [
  ...['**/package.json', '**/{Makefile,makefile,GNUmakefile,justfile,Justfile,.justfile}', '**/*.mk', '**/Taskfile.*'],
  ...['**/{pytest,tox,.pytest}.{ini,toml}', '**/setup.cfg', '**/pyproject.toml', '**/conftest.py', '**/noxfile.py'],
  ...['**/{jest,vitest,vite,vitest.workspace}.*', '**/{jest,vitest}.*.config.*', '**/.mocharc*', '**/.taprc'],
  ...['**/pom.xml', '**/*.gradle', '**/*.gradle.kts', '**/.cargo/*', '**/nextest.toml'],
  ...['{scripts,script,bin,ci,.ci,tools,hack}/**', '**/*.{sh,bash}'],
];
const MAX_CONFIG = 200;

/** Options that leave tests out, of any runner: a word too many here only makes nothing be asked for. */
const SELECTS: readonly RegExp[] = [
  /(?:^|[\s"'`,[=])(?:-k|-m|-g|-t)(?=[\s="'`,\]]|$)/m,
  /--(?:deselect|ignore|ignore-glob|lf|last-failed|stepwise|sw|nf|shard|changed|onlyChanged|changedSince|related)\b/,
  /--(?:findRelatedTests|testNamePattern|test-name-pattern|test-skip-pattern|test-only|grep|fgrep|invert|tags?|tests)\b/,
  /\btestNamePattern\b|\bforbidOnly\b|\bgrep\s*:|\bfgrep\s*:/,
  /\bgo\b[^\n;&|]*\s--?(?:test\.)?(?:run|skip|short|list)\b/,
  /\w::\w/,
  // A class or a test of a module.
  /\bunittest\b[^\n;&|]*\s[\w/.]*\w\.[A-Z]\w*(?:\.\w+)*(?=[\s'"`]|$)/m,
  /-Dtest=|-D(?:excludedG|g)roups=|<(?:excludedG|g)roups>|\b(?:ex|in)cludeTags\b|\bexcludeTestsMatching\b/,
  /\bpytest_(?:collection_modifyitems|ignore_collect|runtest_setup|collect_file|pycollect_\w+|itemcollected)\b/,
  /\bcollect_ignore(?:_glob)?\b|\bpytest_plugins\b|\bpython_(?:files|classes|functions)\b/,
];

/** Words behind `cargo test` that name tests, or leave some out. */
const CARGO = /\bcargo\s+(?:\+\S+\s+)?(?:nextest\s+run|test|t)\b([^\n;&|]*)/g;
const CARGO_VALUED =
  /\s(?:-p|--package|--exclude|--features|-F|--manifest-path|--target|--target-dir|--profile|--color|-j|--jobs|--config|-Z|--test-threads|--format)(?:\s+|=)\S+/g;

/**
 * Whether the commands, or what configures them in the base, run some of the tests only: then nobody knows here which are asked
 * for. Also where there is more than can be read.
 */
export async function selectsTests({ policy, result, rules = result.base }: Tried): Promise<boolean> {
  if (policy.verify.some(selects)) return true;
  const { entries } = await treeEntries(result.gitDir, rules);
  const isConfig = matches(CONFIG);
  const named = new Set(policy.verify.flatMap((command) => command.split(/[\s;|&()<>{}'"`=]+/)).map(relative));
  const files = [...entries].filter(
    ([path, { mode }]) =>
      mode.startsWith('100') &&
      !/(?:^|\/)(?:node_modules|vendor|\.?venv)\//.test(path) &&
      ((isConfig(path) && !/\.(?:test|spec)\.\w+$/.test(path)) || named.has(path)),
  );
  if (files.length > MAX_CONFIG) return true;
  const texts = await readTexts(result.gitDir, new Map(files));
  return texts.size < files.length || [...texts.values()].some(selects);
}

export function selects(text: string): boolean {
  // A module that Python runs.
  const plain = text
    .replace(/\bpython[\d.]*((?:\s+-[a-zA-Z]+)*?)\s+-m\s+/g, 'python$1 ')
    // A folder.
    .replace(/(\bunittest discover\b[^\n;&|]*?)\s-t\s+\S+/g, '$1');
  if (SELECTS.some((one) => one.test(plain))) return true;
  return [...plain.matchAll(CARGO)].some(([, words = '']) =>
    words
      .replace(CARGO_VALUED, '')
      .split(/\s+/)
      .some(
        (word) => (word !== '' && !word.startsWith('-')) || /^--(?:skip|ignored|exact|include-ignored)$/.test(word),
      ),
  );
}

const relative = (word: string): string => word.replace(/^\.\//, '');
