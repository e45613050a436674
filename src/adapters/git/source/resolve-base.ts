import { isCommitId } from '../init.ts';
import { fetchMirror } from './mirror.ts';
import { failGit, fail, type Failed } from '../failures.ts';
import { checkObjects, nameOfSource, type Source, type UrlSource } from './source.ts';

const MOST_KNOWN = 2_000;
/** Full commit ids that were seen in a source: they stay what they are. */
const known = new Set<string>();

/**
 * The commit that a task starts from. Without `base`: HEAD of a path's checkout, the default branch of a URL.
 * A URL is fetched unless `base` is a full commit id that its mirror has.
 */
export async function resolveBase(resolve: {
  source: Source;
  base?: string;
  /** For the network, default five minutes. */
  timeoutMs?: number;
  /** Ends the wait for the network with its reason. */
  signal?: AbortSignal;
}): Promise<{ ok: true; commit: string } | Failed> {
  const { source } = resolve;
  const base = resolve.base ?? 'HEAD';
  if (base.startsWith('-') || /[\s\0]/.test(base)) return missing(source, base);
  const mark = `${source.key} ${base}`;
  if (known.has(mark)) return { ok: true, commit: base };
  try {
    const commit = source.kind === 'path' ? await lookUp(source, onPath(base)) : await fromUrl(source, base, resolve);
    if (typeof commit !== 'string') return commit ?? missing(source, base);
    if (commit === base) remember(mark);
    return { ok: true, commit };
  } catch (error) {
    return failGit(error, 'repo-unavailable', `${nameOfSource(source)} cannot be read`);
  }
}

async function fromUrl(
  source: UrlSource,
  base: string,
  { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal },
): Promise<string | Failed | null> {
  const { url, gitDir } = source;
  const fetch = { url, gitDir, ...(timeoutMs ? { timeoutMs } : {}), ...(signal ? { signal } : {}) };
  if (isCommitId(base)) {
    const here = await lookUp(source, [base]).catch(() => null);
    if (here) return here;
  }
  const fetched = await fetchMirror(fetch);
  if (!fetched.ok) return fetched;
  const found = await lookUp(source, inMirror(base));
  if (found || !(isCommitId(base) || base.startsWith('refs/'))) return found;
  // not under any branch or tag: many servers give it when asked by name
  const only = await fetchMirror({ ...fetch, only: base });
  return only.ok ? lookUp(source, inMirror(base)) : null;
}

const onPath = (base: string): string[] => [base, `refs/remotes/origin/${base}`];
const inMirror = (base: string): string[] => [
  `refs/origin/heads/${base}`,
  `refs/origin/tags/${base}`,
  ...(base === 'HEAD' ? ['refs/origin/HEAD'] : []),
  ...(base.startsWith('refs/')
    ? [`refs/origin/${base.slice('refs/'.length)}`, `refs/origin/wanted/${base.slice('refs/'.length)}`]
    : []),
  ...(base.startsWith('origin/') ? [`refs/origin/heads/${base.slice('origin/'.length)}`] : []),
  ...(/^[0-9a-f]{7,64}$/.test(base) ? [base] : []),
];

/** The first of the names that is a commit. */
async function lookUp(source: Source, names: string[]): Promise<string | null> {
  const lines = await checkObjects(
    source,
    names.map((name) => `${name}^{commit}`),
  );
  return (
    lines.map((line) => line.split(' ')).find(([id, type]) => type === 'commit' && isCommitId(id ?? ''))?.[0] ?? null
  );
}

function remember(mark: string): void {
  if (known.size >= MOST_KNOWN) known.clear();
  known.add(mark);
}

const missing = (source: Source, base: string): Failed =>
  base === 'HEAD'
    ? fail('base-missing', `${nameOfSource(source)} has no commits`)
    : fail('base-missing', `${nameOfSource(source)} has no branch, tag or commit ${base}`);
