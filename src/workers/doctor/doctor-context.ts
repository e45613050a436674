import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { sha256 } from '../../adapters/sha256.ts';
import { matches, roots } from '../../adapters/glob.ts';
import { createCoders } from '../../coders/registry.ts';
import type { Config } from '../../config.ts';
import { object, type Json } from '../../domain/values/json.ts';
import type { ContextSource } from '../../ports.ts';
import { probeCoders, usable } from '../coders/probe-coders.ts';

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
  /** Tokens in each conversation of a coder: of what agents of the fleet load, and of what the CLI would load by itself. */
  sums: { coder: string; loaded: number; all: number }[];
  /** What one coder has twice: the same words, plugin, or command of an MCP server. `tokens`: null where only the CLI could tell. */
  twice: { coder: string; kind: ContextSource['kind']; paths: string[]; tokens: number | null; loaded: boolean }[];
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
  const items = onceOnly(found.flat());
  return {
    ...{ inherit, items: items.map(({ digest: _, ...item }) => item) },
    ...{ sums: sumsOf(items), twice: repeated(items) },
  };
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
    const entries = kind === 'mcp' ? serversOf(text) : kind === 'plugin' ? pluginsOf(text) : undefined;
    if (!entries) return [{ ...item, path: shown, tokens: tokensOf(kind, text) }];
    return entries.map(({ name, is }) => ({ ...item, path: `${shown}: ${name}`, tokens: null, digest: is }));
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

/** One thing that a file names, and what makes it the same as another. */
interface Entry {
  name: string;
  is: string;
}

/** MCP servers in a file of JSON (`mcpServers`) or TOML (`[mcp_servers.<name>]`): the same by what is started or called. */
function serversOf(text: string): Entry[] {
  const servers = objectIn(text)?.['mcpServers'];
  if (servers !== undefined || text.trimStart().startsWith('{'))
    return Object.entries(object(servers) ?? {}).map(([name, server]) => {
      const { command, args, url } = object(server) ?? {};
      return { name, is: command || url ? JSON.stringify([command, args ?? [], url]) : name };
    });
  return [...text.matchAll(/^\[mcp_servers\.([^.\]]+)\]([^[]*(?:\[[^\]\n]*\][^[]*)*?)(?=^\[|(?![^]))/gm)].map(
    ([, name = '', body = '']) => {
      const of = (key: string) => new RegExp(`^\\s*${key}\\s*=\\s*(.+?)\\s*$`, 'm').exec(body)?.[1];
      const [command, args, url] = ['command', 'args', 'url'].map(of);
      return { name, is: command || url ? JSON.stringify([command, args, url]) : name };
    },
  );
}

/** Plugins in Claude's list: `<name>@<marketplace>`; another coder's file is one. */
function pluginsOf(text: string): Entry[] | undefined {
  const plugins = object(objectIn(text)?.['plugins']);
  return plugins && Object.keys(plugins).map((name) => ({ name, is: name.replace(/@[^@]*$/, '') }));
}

function objectIn(text: string): Json | undefined {
  try {
    return object(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A run links the user's own instructions in, but for those that the repository has word for word. */
function onceOnly(items: readonly Found[]): Found[] {
  const own = new Set(items.flatMap((item) => (item.loaded && item.from === 'project' ? [keyOf(item)] : [])));
  return items.map((item) => (item.from === 'user' && own.has(keyOf(item)) ? { ...item, loaded: false } : item));
}

const keyOf = ({ coder, kind, digest }: Found): string => `${coder} ${kind} ${digest}`;

function sumsOf(items: readonly Found[]): ContextReport['sums'] {
  const total = (of: readonly Found[]) => of.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
  return [...new Set(items.map(({ coder }) => coder))].map((coder) => {
    const all = items.filter((item) => item.coder === coder);
    return { coder, loaded: total(all.filter(({ loaded }) => loaded)), all: total(all) };
  });
}

function repeated(items: readonly Found[]): ContextReport['twice'] {
  const groups = new Map<string, Found[]>();
  for (const item of items.filter(({ kind, tokens }) => tokens || kind === 'mcp' || kind === 'plugin'))
    groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => ({
      ...{ coder: group[0]!.coder, kind: group[0]!.kind },
      paths: group.map(({ path }) => path),
      tokens: group[0]!.tokens === null ? null : group.slice(1).reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
      loaded: group.filter(({ loaded }) => loaded).length > 1,
    }));
}
