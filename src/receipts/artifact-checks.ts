import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkTexts } from '../adapters/artifacts/check-texts.ts';
import { readBlobs } from '../adapters/git/checkout.ts';
import { treeEntries } from '../adapters/git/entries.ts';
import { matches } from '../adapters/glob.ts';
import { isChecked, PATTERN_FLAGS, type Artifact } from '../domain/artifact.ts';
import type { Evidence } from '../ports.ts';
import { named } from './bounded.ts';
import { linksIn, LINKS_MAX } from './links-in.ts';
import { notInSources, quotationsIn, SHORTEST } from './quotations.ts';

/** What the checks of declared outputs came to. */
export interface ArtifactsChecked {
  /** A sentence each. */
  problems: string[];
  /** What could not be told, a sentence each: no fault, and no evidence either. */
  unknown: string[];
  /** Checks that were made, by artifact. */
  checks: number;
}

const TEXTS_MS = 10_000;
const TEXT_MAX = 10 * 1024 * 1024;
const SOURCES_MAX = 2_000;

/** Of the copies, which nobody but us can write to. */
export async function checkArtifacts(
  given: Pick<Evidence, 'policy' | 'outputsDir' | 'result' | 'askLinks'>,
  paths: readonly string[],
): Promise<ArtifactsChecked> {
  const all: ArtifactsChecked = { problems: [], unknown: [], checks: 0 };
  for (const artifact of given.policy.artifacts.filter(isChecked)) {
    const own = paths.filter(matches([artifact.path]));
    all.checks += 1;
    for (const check of [textProblems, linkProblems, quoteProblems]) {
      const { problems = [], unknown = [] } = await check(given, artifact, own);
      all.problems.push(...problems);
      all.unknown.push(...unknown);
    }
  }
  return all;
}

type Found = Partial<Pick<ArtifactsChecked, 'problems' | 'unknown'>>;
type Given = Parameters<typeof checkArtifacts>[0];

async function textProblems(
  { outputsDir }: Given,
  { path, schema, matches: pattern }: Artifact,
  paths: string[],
): Promise<Found> {
  if (schema === undefined && pattern === undefined) return {};
  if (typeof schema === 'string') throw new Error(`the schema ${schema} was not read`);
  const files = paths.map((name) => ({ path: join(outputsDir, name), name }));
  const checked = await checkTexts({ files, schema, matches: pattern, flags: PATTERN_FLAGS }, TEXTS_MS);
  if ('problems' in checked) return checked;
  const why = 'why' in checked ? checked.why : `its check did not end within ${TEXTS_MS / 1_000}s`;
  return { problems: [`${path}: ${why}`] };
}

async function linkProblems(given: Given, { links }: Artifact, paths: string[]): Promise<Found> {
  if (!links) return {};
  const found: Required<Found> = { problems: [], unknown: [] };
  for (const [path, text] of await textsOf(given, paths, found.problems)) {
    const list = linksIn(text);
    if (list.length === 0) found.problems.push(`${path} has no link`);
    else if (list.length > LINKS_MAX)
      found.problems.push(`${path} has more than ${LINKS_MAX} links, which are too many to ask`);
    else {
      const asked = await given.askLinks(list);
      const told = (state: 'gone' | 'unknown') =>
        asked.flatMap((one) => (one.state === state ? [`${one.link} ${one.why}`] : []));
      if (told('gone').length > 0) found.problems.push(`${path}: ${named(told('gone'), 5)}`);
      if (told('unknown').length > 0) found.unknown.push(`${path}: ${named(told('unknown'), 5)}`);
    }
  }
  return found;
}

async function quoteProblems(given: Given, { quotes }: Artifact, paths: string[]): Promise<Found> {
  if (!quotes) return {};
  const problems: string[] = [];
  const sources = await sourcesOf(given.result, quotes);
  if (typeof sources === 'string') return { problems: [sources] };
  for (const [path, text] of await textsOf(given, paths, problems)) {
    const said = quotationsIn(text);
    const wrong = notInSources(said, sources);
    if (!said.some((one) => one.length >= SHORTEST))
      problems.push(`${path} quotes nothing: no line begins with ">" and has ${SHORTEST} characters`);
    else if (wrong.length > 0)
      problems.push(`${path} quotes what no source says: ${named(wrong.map((one) => `"${one}"`))}`);
  }
  return { problems };
}

async function textsOf({ outputsDir }: Given, paths: string[], problems: string[]): Promise<[string, string][]> {
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
  return (await readBlobs(gitDir, ids)).map(String);
}
