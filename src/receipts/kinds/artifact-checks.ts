import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkTexts } from '../../adapters/artifacts/check-texts.ts';
import { blobSizes, readBlobs } from '../../adapters/git/worktree/checkout.ts';
import { treeEntries } from '../../adapters/git/entries.ts';
import { matches } from '../../adapters/glob.ts';
import { isChecked } from '../../domain/artifact/artifact.ts';
import { PATTERN_FLAGS } from '../../domain/artifact/pattern-flags.ts';
import type { Artifact } from '../../domain/artifact/artifact-schema.ts';
import type { Evidence } from '../../ports.ts';
import { named } from '../bounded.ts';
import { linksIn, LINKS_MAX } from './links-in.ts';

/** What the checks of declared outputs came to. */
export interface ArtifactsChecked {
  /** A sentence each. */
  problems: string[];
  /** What could not be told, a sentence each: no fault, and no evidence either. */
  unknown: string[];
  /** Checks that were made, by artifact. */
  checks: number;
}

/** For one artifact, and for all. */
const TEXTS_MS = 10_000;
const ALL_MS = 60_000;
const TEXT_MAX = 10 * 1024 * 1024;
const SOURCES_MAX = 2_000;
const SOURCES_MAX_BYTES = 50 * 1024 * 1024;

/** Of the copies, which nobody but us can write to. Their texts have a minute in all, their links another. */
export async function checkArtifacts(
  given: Pick<Evidence, 'policy' | 'outputsDir' | 'result' | 'askLinks'>,
  paths: readonly string[],
  { allMs = ALL_MS }: { allMs?: number } = {},
): Promise<ArtifactsChecked> {
  const all: ArtifactsChecked = { problems: [], unknown: [], checks: 0 };
  const over = performance.now() + allMs;
  const rules = given.policy.artifacts.filter(isChecked);
  for (const artifact of rules) {
    const own = paths.filter(matches([artifact.path]));
    all.checks += 1;
    all.problems.push(...(await textProblems(given, artifact, { paths: own, over })));
  }
  const linked = matches(rules.flatMap(({ path, links }) => (links ? [path] : [])));
  await checkLinks(given, paths.filter(linked), all);
  return all;
}

type Given = Parameters<typeof checkArtifacts>[0];

async function textProblems(
  { outputsDir, result }: Given,
  { path, schema, matches: pattern, quotes }: Artifact,
  { paths, over }: { paths: string[]; over: number },
): Promise<string[]> {
  if (schema === undefined && pattern === undefined && quotes === undefined) return [];
  if (typeof schema === 'string') throw new Error(`the schema ${schema} was not read`);
  const sources = quotes && (await sourcesOf(result, quotes));
  if (typeof sources === 'string') return [sources];
  const files = paths.map((name) => ({ path: join(outputsDir, name), name }));
  const ms = Math.round(Math.min(TEXTS_MS, over - performance.now()));
  if (ms <= 0) return [`${path}: the checks before it took all of the time that there is`];
  const checked = await checkTexts({ files, schema, matches: pattern, flags: PATTERN_FLAGS, sources }, ms);
  if ('problems' in checked) return checked.problems;
  return [`${path}: ${'why' in checked ? checked.why : `its check did not end within ${Math.ceil(ms / 1_000)}s`}`];
}

/** All of them are asked together, each once. */
async function checkLinks(
  given: Given,
  paths: readonly string[],
  { problems, unknown }: Pick<ArtifactsChecked, 'problems' | 'unknown'>,
): Promise<void> {
  const links = new Map<string, string[]>();
  for (const [path, text] of await textsOf(given, paths, problems)) {
    const list = linksIn(text);
    if (list.length === 0) problems.push(`${path} has no link`);
    else if (list.length > LINKS_MAX)
      problems.push(`${path} has more than ${LINKS_MAX} links, which are too many to ask`);
    else links.set(path, list);
  }
  if (links.size === 0) return;
  const asked = new Map((await given.askLinks([...new Set([...links.values()].flat())])).map((one) => [one.link, one]));
  for (const [path, list] of links) {
    const told = (state: 'gone' | 'unknown') =>
      list.flatMap((link) => {
        const one = asked.get(link);
        return one?.state === state ? [`${link} ${one.why}`] : [];
      });
    if (told('gone').length > 0) problems.push(`${path}: ${named(told('gone'), 5)}`);
    if (told('unknown').length > 0) unknown.push(`${path}: ${named(told('unknown'), 5)}`);
  }
}

async function textsOf(
  { outputsDir }: Given,
  paths: readonly string[],
  problems: string[],
): Promise<[string, string][]> {
  const texts: [string, string][] = [];
  for (const path of paths) {
    const file = join(outputsDir, path);
    if ((await stat(file)).size > TEXT_MAX)
      problems.push(`${path} is larger than ${TEXT_MAX} bytes: too large to check`);
    else texts.push([path, await readFile(file, 'utf8')]);
  }
  return texts;
}

/** As they are at the base: an agent writes no source for what it quotes. */
async function sourcesOf({ gitDir, base }: Given['result'], globs: string[]): Promise<string[] | string> {
  const { entries } = await treeEntries(gitDir, base);
  const wanted = matches(globs);
  const ids = [...entries].flatMap(([path, { mode, id }]) => (mode.startsWith('100') && wanted(path) ? [id] : []));
  if (ids.length === 0) return `no file of the base matches ${named(globs)}, which is to be quoted`;
  if (ids.length > SOURCES_MAX) return `more than ${SOURCES_MAX} files match ${named(globs)}, which is to be quoted`;
  const bytes = (await blobSizes(gitDir, ids)).reduce((sum, size) => sum + size, 0);
  if (bytes > SOURCES_MAX_BYTES)
    return `the files that match ${named(globs)}, which is to be quoted, have ${bytes} bytes: at most ${SOURCES_MAX_BYTES}`;
  return (await readBlobs(gitDir, ids)).map(String);
}
