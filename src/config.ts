import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { coder, schema, type Config, type PartialConfig } from './config-schema.ts';
import { at, merge, nest, parseYaml, readConfig, type Raw } from './config-yaml.ts';
import { credential } from './domain/routing/credential.ts';
import { type FleetError, wrongInput } from './domain/error.ts';
import { homeLayout } from './domain/names.ts';
import { firstIssue } from './domain/artifact/first-issue.ts';

export { BUILTIN_CODERS } from './domain/task/coder-names.ts';
export { leaseOf, nameOf, type Config, type PartialConfig } from './config-schema.ts';

/** `$FLEET_HOME/config.yaml`: defaults < file < environment < flags, parsed once. Each key is explained in docs/config.md. */

export interface ConfigKey {
  path: readonly string[];
  /** Name of the environment variable; null for a record and a list of objects, which are a file's matter. */
  env: string | null;
  kind: 'text' | 'number' | 'list' | 'record' | 'objects';
}

/** Every key of the schema; a record is one key, and so is a list of objects. */
export const CONFIG_KEYS: readonly ConfigKey[] = keysOf(schema, []);
/** Every key of one `coders` entry. */
export const CODER_KEYS: readonly string[] = Object.keys(coder.shape);
/** Every key of one `credentials` entry. */
export const CREDENTIAL_KEYS: readonly string[] = Object.keys(credential.shape);

function keysOf(type: z.core.$ZodType, path: string[]): ConfigKey[] {
  const inner = unwrap(type);
  if (inner instanceof z.ZodObject)
    return Object.entries(inner.shape).flatMap(([key, value]) => keysOf(value, [...path, key]));
  if (inner instanceof z.ZodRecord) return [{ path, env: null, kind: 'record' }];
  if (inner instanceof z.ZodArray && unwrap(inner.def.element) instanceof z.ZodObject)
    return [{ path, env: null, kind: 'objects' }];
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
  const source = sourceOf(toldIn(key, sourceOf));
  const place = source === 'file' ? `${path}:${lineOf(key)}` : source.startsWith('FLEET_') ? source : null;
  throw invalid(place, firstIssue(result.error) + knownBeside(issue));
}

/** As much of a path as somebody has given: one value may stand for a list, and a key may be missing. */
function toldIn(
  key: readonly PropertyKey[],
  sourceOf: (key: readonly PropertyKey[]) => Source,
): readonly PropertyKey[] {
  const shorter = key.slice(0, -1);
  return shorter.length > 0 && sourceOf(key) === 'default' ? toldIn(shorter, sourceOf) : key;
}

function knownBeside(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return '';
  const parent = issue.path.join('.');
  const siblings = ENTRY_KEYS[String(issue.path[0])] ?? siblingsOf(parent);
  if (siblings.length === 0) return '';
  return ` (known ${parent ? `in ${parent}` : 'here'}: ${siblings.join(', ')})`;
}

const ENTRY_KEYS: Readonly<Record<string, readonly string[]>> = { coders: CODER_KEYS, credentials: CREDENTIAL_KEYS };

function siblingsOf(parent: string): string[] {
  const depth = parent ? parent.split('.').length : 0;
  return [
    ...new Set(
      CONFIG_KEYS.filter((key) => key.path.slice(0, depth).join('.') === parent).map((key) => key.path[depth]!),
    ),
  ];
}

const invalid = (place: string | null, message: string): FleetError =>
  wrongInput(place ? `${place}: ${message}` : message);
