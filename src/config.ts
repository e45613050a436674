import { homedir, hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { at, merge, nest, parseYaml, readConfig, type Raw } from './config-yaml.ts';
import { toBytes } from './domain/bytes.ts';
import { formatDuration, toMs } from './domain/duration.ts';
import { FleetError } from './domain/error.ts';
import { DEFAULT_QUEUE, homeLayout } from './domain/names.ts';
import { DEFAULT_LIMITS } from './domain/repo-policy.ts';
import { bytes, duration, firstIssue, limits, name } from './domain/task.ts';

/** `$FLEET_HOME/config.yaml`: defaults < file < environment < flags, parsed once. Each key is explained in docs/config.md. */

/** Coders that ship with the product: a `coders` entry of that name may be partial. */
export const BUILTIN_CODERS: readonly string[] = ['claude', 'codex'];

const text = z.string().min(1, { error: 'must not be empty' });
const argv = z.array(text).min(1, { error: 'must have at least one part' });
const queues = z.array(name).max(50);

const coder = z.strictObject({
  command: argv.optional(),
  protocol: z.enum(['claude', 'codex', 'none']).optional(),
  args: z.array(z.string()).optional(),
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be names of environment variables' }))
    .optional(),
  model: text.optional(),
});
const schema = z
  .strictObject({
    worker: z
      .strictObject({
        name: name.default(() => nameOf(hostname())),
        slots: z.int().min(1).max(500).default(2),
        queues: queues.min(1).default([DEFAULT_QUEUE]),
        isolation: z.enum(['auto', 'namespace', 'process-group']).default('auto'),
        coder: name.optional(),
        /** How often the work of a live run is saved. */
        checkpoint: duration.default('5m'),
        onTerm: z.enum(['hand-over', 'drain']).default('hand-over'),
      })
      .prefault({}),
    disk: z.strictObject({ floor: bytes.default('2GB'), reserve: bytes.default('64MB') }).prefault({}),
    keep: z
      .strictObject({
        accepted: duration.default('7d'),
        rejected: duration.default('14d'),
        parked: duration.default('20d'),
        orphaned: duration.default('7d'),
      })
      .prefault({}),
    queues: queues.default([]),
    machine: name.optional(),
    coders: z.record(name, coder).default({}),
    limits: limits.prefault({}),
    lease: z
      .strictObject({
        heartbeat: duration.default('12s'),
        grace: duration.default('40s'),
        selfKill: duration.default('30s'),
      })
      .prefault({}),
    alerts: z
      .strictObject({ webhook: z.url({ protocol: /^https?$/ }).optional(), command: argv.optional() })
      .prefault({}),
    git: z.strictObject({ name: text.default('Infinity Fleet'), email: text.default('fleet@localhost') }).prefault({}),
  })
  .superRefine((config, ctx) => {
    if (ctx.issues.length) return;
    for (const [path, message] of inconsistencies(config)) ctx.addIssue({ code: 'custom', path, message });
  });

export type Config = z.output<typeof schema>;
type Partially<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> | undefined }
    : T;
/** A configuration of which any part may be left out. */
export type PartialConfig = Partially<z.input<typeof schema>>;

// What a worker needs between its own deadline and the moment when another may claim its runs (docs/config.md, lease).
const TICK_MS = 1_000;
const FENCE_MS = 5_000;
const MARGIN_MS = 10_000;

function inconsistencies(config: Config): [path: string[], message: string][] {
  const found: [string[], string][] = [];
  const { heartbeatMs, graceMs, selfKillMs } = leaseOf(config);
  if (selfKillMs + TICK_MS + FENCE_MS + MARGIN_MS > heartbeatMs + graceMs) {
    const needed = formatDuration(selfKillMs + TICK_MS + FENCE_MS + MARGIN_MS);
    const rule = 'selfKill + 1s tick + 5s fence ladder + 10s margin ≤ heartbeat + grace';
    found.push([
      ['lease'],
      `must keep the rule ${rule}: ${needed} is more than ${formatDuration(heartbeatMs + graceMs)}`,
    ]);
  }
  if (selfKillMs + TICK_MS + FENCE_MS > graceMs) {
    const rule = 'selfKill + 1s tick + 5s fence ladder ≤ grace';
    const needed = formatDuration(selfKillMs + TICK_MS + FENCE_MS);
    found.push([['lease'], `must keep the rule ${rule}: ${needed} is more than ${formatDuration(graceMs)}`]);
  }
  const { total, idle } = {
    total: config.limits.total ?? DEFAULT_LIMITS.total,
    idle: config.limits.idle ?? DEFAULT_LIMITS.idle,
  };
  if (toMs(total) <= toMs(idle))
    found.push([['limits'], `must have total above idle: ${total} is not more than ${idle}`]);
  const { floor, reserve } = config.disk;
  if (toBytes(reserve) >= toBytes(floor))
    found.push([['disk'], `must have reserve below floor: ${reserve} is not less than ${floor}`]);
  for (const [key, { command, protocol }] of Object.entries(config.coders)) {
    if (BUILTIN_CODERS.includes(key) || (command && protocol)) continue;
    found.push([['coders', key], `needs command and protocol: only ${BUILTIN_CODERS.join(' and ')} are known without`]);
  }
  const known = new Set([...BUILTIN_CODERS, ...Object.keys(config.coders)]);
  if (config.worker.coder && !known.has(config.worker.coder)) {
    found.push([['worker', 'coder'], `must be one of ${[...known].join(', ')}`]);
  }
  return found;
}

/** The lease in milliseconds. */
export function leaseOf(config: Pick<Config, 'lease'>): { heartbeatMs: number; graceMs: number; selfKillMs: number } {
  const { heartbeat, grace, selfKill } = config.lease;
  return { heartbeatMs: toMs(heartbeat), graceMs: toMs(grace), selfKillMs: toMs(selfKill) };
}

export interface ConfigKey {
  path: readonly string[];
  /** Name of the environment variable; null for `coders`, which is a file's matter. */
  env: string | null;
  kind: 'text' | 'number' | 'list' | 'record';
}

/** Every key of the schema; a record is one key. */
export const CONFIG_KEYS: readonly ConfigKey[] = keysOf(schema, []);
/** Every key of one `coders` entry. */
export const CODER_KEYS: readonly string[] = Object.keys(coder.shape);

function keysOf(type: z.core.$ZodType, path: string[]): ConfigKey[] {
  const inner = unwrap(type);
  if (inner instanceof z.ZodObject)
    return Object.entries(inner.shape).flatMap(([key, value]) => keysOf(value, [...path, key]));
  if (inner instanceof z.ZodRecord) return [{ path, env: null, kind: 'record' }];
  const env = `FLEET_${path.map((part) => part.replace(/[A-Z]/g, '_$&').toUpperCase()).join('_')}`;
  const kind = inner instanceof z.ZodArray ? 'list' : inner instanceof z.ZodNumber ? 'number' : 'text';
  return [{ path, env, kind }];
}

function unwrap(type: z.core.$ZodType): z.core.$ZodType {
  if (type instanceof z.ZodDefault || type instanceof z.ZodPrefault || type instanceof z.ZodOptional)
    return unwrap(type.def.innerType);
  return type;
}

/** A value given as text (environment, command line) in the kind that its key has: `4`, `a,b` for a list. */
export function coerce(kind: ConfigKey['kind'], value: string): unknown {
  if (kind === 'list') return value.split(',').flatMap((part) => part.trim() || []);
  return kind === 'number' && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : value;
}

/** `$FLEET_HOME` or `~/.fleet`, absolute. */
export function resolveHome(env: NodeJS.ProcessEnv): string {
  return resolve(env['FLEET_HOME'] || `${env['HOME'] || homedir()}/.fleet`);
}

export interface Layers {
  home: string;
  env: NodeJS.ProcessEnv;
  flags?: PartialConfig;
}

/** The effective configuration. @throws FleetError (2): one sentence with file and line, or variable, and key. */
export function loadConfig({ home, env, flags = {} }: Layers): Config {
  const path = homeLayout(home).config;
  return parseConfig({ file: { path, text: readConfig(path) }, env, flags }).config;
}

/** Where a value came from: the name of an environment variable stands for itself. */
export type Source = 'default' | 'file' | 'flag' | `FLEET_${string}`;

export interface ParsedConfig {
  config: Config;
  sourceOf(path: readonly string[]): Source;
}

/** As {@link loadConfig}, from the file's text. */
export function parseConfig(input: {
  file: { path: string; text: string };
  env: NodeJS.ProcessEnv;
  flags: PartialConfig;
}): ParsedConfig {
  const { path, text: yaml } = input.file;
  const { value: file, lineOf } = parseYaml(path, yaml);
  const variables = CONFIG_KEYS.filter(({ env }) => env !== null && input.env[env]?.trim());
  const environment = variables.reduce(
    (sum, { path: key, env, kind }) => merge(sum, nest(key, coerce(kind, input.env[env!]!))),
    {},
  );

  const sourceOf = (key: readonly PropertyKey[]): Source => {
    const within = (other: readonly string[]): boolean =>
      other.slice(0, key.length).join('.') === key.slice(0, other.length).join('.');
    if (at(input.flags, key) !== undefined) return 'flag';
    const variable = variables.find((known) => within(known.path));
    if (variable) return variable.env as Source;
    return at(file, key) === undefined ? 'default' : 'file';
  };
  const result = schema.safeParse(merge(merge(file, environment), input.flags as Raw));
  if (result.success) return { config: result.data, sourceOf };

  const issue = result.error.issues[0]!;
  const key = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
  const source = sourceOf(key);
  const place = source === 'file' ? `${path}:${lineOf(key)}` : source.startsWith('FLEET_') ? source : null;
  throw invalid(place, firstIssue(result.error) + knownBeside(issue));
}

function knownBeside(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return '';
  const parent = issue.path.join('.');
  const siblings = issue.path[0] === 'coders' ? CODER_KEYS : siblingsOf(parent);
  return ` (known ${parent ? `in ${parent}` : 'here'}: ${siblings.join(', ')})`;
}

function siblingsOf(parent: string): string[] {
  const depth = parent ? parent.split('.').length : 0;
  return [
    ...new Set(
      CONFIG_KEYS.filter((key) => key.path.slice(0, depth).join('.') === parent).map((key) => key.path[depth]!),
    ),
  ];
}

const invalid = (place: string | null, message: string): FleetError =>
  new FleetError(place ? `${place}: ${message}` : message, { exitCode: 2 });

/** A host's short name in the shape of a `name`. */
export function nameOf(host: string): string {
  const short = host.split('.', 1)[0] ?? '';
  return (
    short
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 40) || 'worker'
  );
}
