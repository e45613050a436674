import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { isCollection, isMap, isNode, parse, type Document } from 'yaml';
import { sha256 } from '../sha256.ts';
import { parseYaml, readConfig } from '../../config-yaml.ts';
import {
  CODER_KEYS,
  coerce,
  CONFIG_KEYS,
  CREDENTIAL_KEYS,
  nameOf,
  parseConfig,
  type Config,
  type Layers,
  type Source,
} from '../../config.ts';
import { wrongInput } from '../../domain/error.ts';
import { homeLayout } from '../../domain/names.ts';

/** One line of `fleet config show`. An entry of a record, such as a coder, is one line. */
export interface ConfigLine {
  /** E.g. `worker.slots`. */
  key: string;
  /** Undefined where the key is not set and has no default. */
  value: unknown;
  source: Source;
}

/** The effective values, in the schema's order. @throws FleetError (2) */
export function showConfig({ home, env, flags = {} }: Layers): ConfigLine[] {
  const path = homeLayout(home).config;
  const { config, sourceOf } = parseConfig({ file: { path, text: readConfig(path) }, env, flags });
  const paths = CONFIG_KEYS.flatMap(({ path: key, kind }) =>
    kind === 'record' ? Object.keys((valueAt(config, key) ?? {}) as object).map((entry) => [...key, entry]) : [key],
  );
  return paths.map((key) => ({ key: key.join('.'), value: shownAt(config, key), source: sourceOf(key) }));
}

/** What a credential's command is given may be a secret itself. */
function shownAt(config: Config, path: readonly string[]): unknown {
  const value = valueAt(config, path);
  if (path[0] !== 'credentials' || path.length < 2) return value;
  const { command, ...rest } = value as Config['credentials'][string];
  return command ? { ...rest, command: [command[0], ...command.slice(1).map(() => '…')] } : rest;
}

const valueAt = (config: Config, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], config);

/**
 * Sets one key of the file, e.g. `worker.slots` to `4`: comments and order stay. The value is YAML, or `a,b` for a list;
 * an empty one removes the key. Nothing is written unless the whole file is valid afterwards. @throws FleetError (2)
 */
export function setConfig({ home, key, value }: { home: string; key: string; value: string }): void {
  const path = homeLayout(home).config;
  const { document } = parseYaml(path, readConfig(path));
  const keyPath = pathOf(key);
  if (value.trim() === '') document.deleteIn(keyPath);
  else {
    makeRoom(document, keyPath);
    put(document, keyPath, valueOf(key, keyPath, value));
  }
  const text = isMap(document.contents) && document.contents.items.length === 0 ? '' : document.toString();
  parseConfig({ file: { path, text }, env: {}, flags: {} });
  writeAtomically(path, text);
}

const FIELDS: Record<string, readonly string[]> = {
  coders: CODER_KEYS,
  credentials: CREDENTIAL_KEYS,
  prices: [],
  models: [],
};

/** The name of an entry may hold dots: everything between `coders.` and a known field is the name. */
function pathOf(key: string): string[] {
  const parts = key.split('.');
  if (parts.some((part) => part === '')) throw wrongInput(`${key || 'the key'} is not a key, such as worker.slots`);
  const [record = ''] = parts;
  const fields = FIELDS[record];
  if (!fields || parts.length < 3) return parts;
  const field = fields.includes(parts.at(-1)!) ? [parts.at(-1)!] : [];
  return [record, parts.slice(1, parts.length - field.length).join('.'), ...field];
}

function valueOf(key: string, path: readonly string[], text: string): unknown {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    const [said] = (error as Error).message.split('\n', 1);
    throw wrongInput(`${key} cannot be set: the value is no valid YAML: ${said}`);
  }
  const known = CONFIG_KEYS.find((candidate) => candidate.path.join('.') === path.join('.'));
  if (known?.kind === 'text' && typeof value !== 'object') return text;
  return known?.kind === 'list' && typeof value === 'string' ? coerce('list', value) : value;
}

/** A parent that says nothing (`worker:`) becomes a map; `setIn` would refuse it. */
function makeRoom(document: Document, path: readonly string[]): void {
  for (let depth = 1; depth < path.length; depth += 1) {
    const parent = path.slice(0, depth);
    if (document.hasIn(parent) && !isCollection(document.getIn(parent))) put(document, parent, {});
  }
}

/** Comments hang on the value's node: a new node takes them over. */
function put(document: Document, path: readonly string[], value: unknown): void {
  const before: unknown = document.getIn(path, true);
  const node = document.createNode(value);
  if (isNode(before)) {
    const { comment, commentBefore, spaceBefore } = before;
    Object.assign(node, { comment, commentBefore, spaceBefore });
  }
  document.setIn(path, node);
}

function writeAtomically(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const target = orElse(() => realpathSync(path), path);
  const draft = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    chmodSync(
      draft,
      orElse(() => statSync(target).mode & 0o777, 0o600),
    );
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw wrongInput(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

function orElse<T>(get: () => T, other: T): T {
  try {
    return get();
  } catch {
    return other;
  }
}

/** The machine that path repositories are pinned to: `machine`, or `<host>-<8 hex>` that no other machine has. */
export function machineName(config: Pick<Config, 'machine'>): string {
  if (config.machine) return config.machine;
  const digest = sha256(machineId()).slice(0, 8);
  return `${nameOf(hostname()).slice(0, 31)}-${digest}`;
}

function machineId(): string {
  const id = orElse(() => readFileSync('/etc/machine-id', 'utf8').trim(), '');
  if (/^[0-9a-f]{32}$/.test(id)) return id;
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  const query = ['-rd1', '-c', 'IOPlatformExpertDevice'];
  const tree = orElse(() => execFileSync('/usr/sbin/ioreg', query, { encoding: 'utf8', stdio }), '');
  return /"IOPlatformUUID" = "([^"]+)"/.exec(tree)?.[1] ?? hostname();
}
