import { label, object, objects, text, type Json } from '../domain/values/json.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Methods by their own words: an id such as `api-key`, or with a vendor's name in front, `gemini-api-key`. */
const BY_KEY = /^(.+[-_])?api[-_]?key$/i;

/**
 * The login that works unattended: the configured one, else one by a key whose variable is set, which is a guess. A method without
 * `vars` that names a vendor is for that vendor's variable alone. Undefined where there is none: the agent may be logged in by a file of its own.
 */
export function loginMethod(methods: readonly Json[], configured: string | undefined, env: Env): string | undefined {
  if (configured !== undefined) return configured;
  const keys = Object.entries(env).flatMap(([name, value]) => (value && name.endsWith('_API_KEY') ? [name] : []));
  const byName = methods.find((method) => keys.includes(variableOf(idOf(method))));
  const byKey = methods.find((method) => {
    const named = objects(method['vars']).map((variable) => label(variable['name']));
    if (named.length > 0) return named.every((name) => env[name]);
    const [told, vendor] = BY_KEY.exec(idOf(method)) ?? [];
    if (vendor !== undefined) return false;
    return keys.length > 0 && (told !== undefined || object(object(method['_meta'])?.['api-key']) !== undefined);
  });
  return idOf(byName ?? byKey ?? {}) || undefined;
}

/** `openai-api-key` → `OPENAI_API_KEY` */
const variableOf = (id: string): string =>
  id
    .toUpperCase()
    .replaceAll('-', '_')
    .replace(/_APIKEY$/, '_API_KEY');

export const idOf = (entry: Json): string => label(entry['id']);

/** Modes in which an agent asks nobody, by the ids of those that have been seen, and one in which it asks its client. */
const FREE = /bypass|full-?access|yolo|allow-?all|autopilot/i;
const ASKING = ['default', 'ask', 'manual'];

export interface ModeChange {
  mode: string;
  /** The id of the session's option; missing where the session has modes of the older kind. */
  configId?: string;
}

/**
 * The mode that lets an agent work without a person: the configured one, else one in which it asks nobody, else one in which it
 * asks its client, which allows all: in a mode that decides by itself it would refuse commands. Undefined: it is in it already, or there is none.
 */
export function unattendedMode(opened: Json, configured: string | undefined): ModeChange | undefined {
  const option = objects(opened['configOptions']).find((each) => each['category'] === 'mode');
  const modes = object(opened['modes']);
  const current = text(option?.['currentValue']) || text(modes?.['currentModeId']);
  const offered = option
    ? objects(option['options'])
        .flatMap((each) => (each['options'] ? objects(each['options']) : [each]))
        .map((each) => label(each['value']))
    : objects(modes?.['availableModes']).map(idOf);
  const asking = offered.find((mode) => ASKING.includes(mode));
  const mode = configured ?? (FREE.test(current) ? current : (offered.find((each) => FREE.test(each)) ?? asking));
  if (mode === undefined || mode === current) return undefined;
  return { mode, ...(option ? { configId: label(option['id']) } : {}) };
}
