import { posix } from 'node:path';
import { treeEntries } from '../../adapters/git/entries.ts';
import { formatOf } from '../../adapters/git/init.ts';
import { TrackedFiles, type Touched } from '../../adapters/git/worktree/tracked-files.ts';
import type { ResultTree, Tried } from '../../ports.ts';
import { named, quoted } from '../bounded.ts';

/** What a command did to the files of its trial's checkout; setup's commands together. */
export interface TouchedBy extends Touched {
  command: string;
}

/** What the same commands do to the base: that is the project's own way. */
export type Usual = Pick<Touched, 'shadows'> & { touched: string[] };

export function usualOf(all: readonly TouchedBy[]): Usual {
  const touched = all.flatMap(({ changed, rewritten }) => [...changed, ...rewritten]);
  return { touched: [...new Set(touched)], shadows: all.flatMap(({ shadows }) => shadows) };
}

/** What package managers bring up to date by themselves. */
const LOCKS =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|Cargo\.lock|go\.sum|go\.work\.sum|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|mix\.lock)$/;
const CODE =
  /\.(?:py|[mc]?[jt]sx?|vue|svelte|go|rs|java|kts?|scala|groovy|c|cc|cpp|cxx|h|hpp|cs|fs|rb|php|swift|dart|exs?|erl|hs|ml|lua|pl|pm|r|jl|sh|sql)$/i;
/** Where builds and runners leave what they make: without a `.gitignore` an agent's own runs have left it in the result. */
const OUTPUT =
  /(?:^|\/)(?:\.[^/]+|coverage|htmlcov|node_modules|__pycache__|dist|build|out|target|bin|obj|tmp|temp|logs?)\//;

/**
 * What was judged and is not what would be delivered, as one sentence: files of the base that a command changed, code that the
 * result adds, either also where it was written and put back, and code that would be imported in place of the checkout's. What the
 * commands do to the base as well is no fault, nor is a new file that they write to as they do to others in its folder. Of new files
 * that are no code, or lie where builds leave theirs, nothing is said: a runner's reports and caches are among them.
 */
export function tamperedWith(
  all: readonly TouchedBy[],
  { usual, changes }: { usual: Usual; changes: ResultTree['changes'] },
): string | undefined {
  const touched = new Set(usual.touched);
  const folders = new Set(usual.touched.map((path) => posix.dirname(path)).filter((folder) => folder !== '.'));
  const own = new Map(changes.map(({ path, kind }) => [path, kind]));
  const endings = new Set(usual.shadows.map((path) => posix.extname(path)));
  const isWrittenBeside = (path: string): boolean => {
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
      if (folders.has(folder)) return true;
    return false;
  };
  const isOutput = (path: string): boolean =>
    own.get(path) === 'added' &&
    (!CODE.test(path) || OUTPUT.test(path) || endings.has(posix.extname(path)) || isWrittenBeside(path));
  const isUsual = (path: string): boolean => LOCKS.test(path) || touched.has(path) || isOutput(path);
  const found = all.flatMap(({ command, changed, rewritten, shadows }) => {
    const paths = [
      ...changed.filter((path) => !isUsual(path)),
      ...rewritten.filter((path) => own.has(path) && CODE.test(path) && !isUsual(path)),
      ...shadows.filter((path) => !endings.has(posix.extname(path))),
    ];
    return paths.length > 0 ? [`${named(paths, 5)}, by ${quoted(command)}`] : [];
  });
  return found.length > 0 ? `changed while it was tested: ${found.join('; ')}` : undefined;
}

/** The tracked files of a checkout of that commit in which some paths are as in the base. */
export async function trackedFiles(
  { result, rules = result.base }: Tried,
  { commit, dir, restored }: { commit: string; dir: string; restored: readonly string[] },
): Promise<TrackedFiles> {
  const { gitDir } = result;
  const entries = new Map((await treeEntries(gitDir, commit)).entries);
  const base = restored.length > 0 ? (await treeEntries(gitDir, rules)).entries : entries;
  for (const path of restored) {
    const entry = base.get(path);
    if (entry) entries.set(path, entry);
    else entries.delete(path);
  }
  for (const [path, { mode }] of entries) if (mode === '160000') entries.delete(path);
  return TrackedFiles.of({ dir, entries, format: formatOf(commit) });
}
