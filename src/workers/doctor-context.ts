import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { sha256 } from '../adapters/sha256.ts';
import { matches, roots } from '../adapters/glob.ts';
import { createCoders } from '../coders/registry.ts';
import type { Config } from '../config.ts';
import type { ContextSource } from '../ports.ts';
import { probeCoders, usable } from './probe-coders.ts';

/** Something that an agent CLI loads into its conversations by itself where nothing keeps it from it. */
export interface ContextItem extends Omit<ContextSource, 'glob'> {
  coder: string;
  path: string;
  /** About 4 characters each: of a skill its description; null where only the CLI could tell. */
  tokens: number | null;
  /** Agents of the fleet load it, as `context.inherit` says. */
  loaded: boolean;
}

export interface ContextReport {
  inherit: Config['context']['inherit'];
  items: ContextItem[];
  /** What one coder would load twice, word for word. */
  twice: { coder: string; paths: string[]; tokens: number; loaded: boolean }[];
}

const MOST_BYTES = 4 * 1024 * 1024;
const CHARACTERS_A_TOKEN = 4;

/** What the coders on this machine would load, of their user's HOME and of the repository at `repo`. */
export async function examineContext(at: {
  config: Config;
  env: NodeJS.ProcessEnv;
  repo: string;
}): Promise<ContextReport> {
  const { inherit } = at.config.context;
  const folders = { user: at.env['HOME'] ?? homedir(), project: at.repo };
  const probed = await probeCoders(createCoders(at.config.coders).values(), at.env);
  const found = await Promise.all(
    [...usable(probed).values()].flatMap(({ coder }) =>
      (coder.context ?? []).map((source) => itemsOf(coder.name, source, { folders, inherit })),
    ),
  );
  const items = found.flat();
  return { inherit, items: items.map(({ digest: _, ...item }) => item), twice: repeated(items) };
}

type Found = ContextItem & { digest: string };

async function itemsOf(
  coder: string,
  { kind, from, glob }: ContextSource,
  { folders, inherit }: { folders: Record<ContextSource['from'], string>; inherit: ContextReport['inherit'] },
): Promise<Found[]> {
  const paths = await filesOf(folders[from], glob);
  const loaded = loads({ kind, from }, inherit);
  const read = paths.map(async (path) => {
    const text = await readFile(`${folders[from]}/${path}`, 'utf8').catch(() => '');
    const shown = from === 'user' ? `~/${path}` : path;
    const digest = sha256(text.trim());
    const item = { coder, kind, from, loaded, digest };
    if (kind !== 'mcp') return [{ ...item, path: shown, tokens: tokensOf(kind, text) }];
    return serversOf(text).map((name) => ({ ...item, path: `${shown}: ${name}`, tokens: null, digest: name }));
  });
  return (await Promise.all(read)).flat();
}

/** As the coders' own files do it: a user's MCP servers and plugins stay out in every mode. */
function loads({ kind, from }: Pick<ContextSource, 'kind' | 'from'>, inherit: ContextReport['inherit']): boolean {
  if (inherit === 'none') return false;
  if (from === 'project') return kind === 'instructions';
  return inherit === 'user' && (kind === 'instructions' || kind === 'skill');
}

async function filesOf(folder: string, glob: string): Promise<string[]> {
  if (!/[*?[]/.test(glob)) return existsSync(`${folder}/${glob}`) ? [glob] : [];
  const [root = ''] = roots([glob]);
  const names = await readdir(`${folder}/${root}`, { recursive: true }).catch(() => []);
  return names.map((name) => `${root}/${name}`).filter(matches([glob]));
}

function tokensOf(kind: ContextSource['kind'], text: string): number | null {
  if (kind === 'plugin' || kind === 'settings') return null;
  const counts = kind === 'skill' ? (/^---\n([^]*?)\n---/.exec(text)?.[1] ?? '') : text.slice(0, MOST_BYTES);
  return Math.ceil(counts.length / CHARACTERS_A_TOKEN);
}

/** Names of MCP servers in a file of JSON (`mcpServers`) or TOML (`[mcp_servers.<name>]`). */
function serversOf(text: string): string[] {
  try {
    const { mcpServers } = JSON.parse(text) as { mcpServers?: object };
    return Object.keys(mcpServers ?? {});
  } catch {
    return [...text.matchAll(/^\[mcp_servers\.([^.\]]+)\]/gm)].map(([, name]) => name ?? '');
  }
}

function repeated(items: readonly Found[]): ContextReport['twice'] {
  const groups = new Map<string, Found[]>();
  for (const item of items.filter(({ tokens }) => tokens)) {
    const key = `${item.coder} ${item.digest}`;
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => ({
      coder: group[0]!.coder,
      paths: group.map(({ path }) => path),
      tokens: group.slice(1).reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
      loaded: group.filter(({ loaded }) => loaded).length > 1,
    }));
}
