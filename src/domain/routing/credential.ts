import { z } from 'zod';
import { name } from '../task/schema.ts';

/** An account that a coder runs under, as config.yaml names it. Only its name leaves the machine. */

const text = z.string().min(1, { error: 'must not be empty' });
const WAYS = ['home', 'envFile', 'command'] as const;

export const credential = z.strictObject({
  coder: name,
  /** Runs at the same time, of all machines that name it. */
  seats: z.int().min(1).max(500).default(1),
  /** The part of a window that may be used before it takes no new run, where the coder tells. */
  softCeiling: z.number().gt(0).max(1).default(0.9),
  /** A HOME in which the coder is logged in. */
  home: text.optional(),
  /** Lines `NAME=value`, for the worker's user alone to read. */
  envFile: text.optional(),
  /** Prints such lines, or the bare secret. */
  command: z.array(text).min(1, { error: 'must have at least one part' }).optional(),
});
export type Credential = z.output<typeof credential>;
export const credentials = z.record(name, credential).default({});
export type Credentials = z.output<typeof credentials>;

export const wayOf = (declared: Credential): (typeof WAYS)[number] =>
  WAYS.find((way) => declared[way] !== undefined) ?? 'home';

/** What is wrong with them beside each other, and what they have no coder for. */
export function credentialFaults(all: Credentials, coders: ReadonlySet<string>): [path: string[], message: string][] {
  const faults: [string[], string][] = [];
  const logins = new Map<string, string>();
  for (const [key, declared] of Object.entries(all)) {
    const path = ['credentials', key];
    const given = WAYS.filter((way) => declared[way] !== undefined);
    if (given.length !== 1) faults.push([path, `must have one of ${WAYS.join(', ')}`]);
    if (!coders.has(declared.coder)) faults.push([[...path, 'coder'], `must be one of ${[...coders].join(', ')}`]);
    if (declared.coder !== 'codex' || declared.home === undefined) continue;
    const home = declared.home.replace(/\/+$/, '');
    const other = logins.get(home);
    if (other !== undefined)
      faults.push([
        [...path, 'home'],
        `must not be that of ${other}: a login of codex has one owner, as its refresh tokens can be used once`,
      ]);
    logins.set(home, key);
  }
  return faults;
}

/** Variables that say where to, not by what: they may come from the worker's environment beside any credential. */
const PLAIN = /_(URL|MODEL|HOST|REGION|ENDPOINT)$/;
export const isSecretName = (variable: string): boolean => !PLAIN.test(variable);

/** `NAME=value` lines: comments, `export`, and quotes as shells know them, without expansion. Undefined: it is none. */
export function parseDotenv(text: string): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, key, raw] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || raw === undefined) return undefined;
    const [, quoted] = /^(?:"([^"]*)"|'([^']*)')(?:\s+#.*)?$/.exec(raw)?.filter((part) => part !== undefined) ?? [];
    found[key] = quoted ?? raw.replace(/\s+#.*$/, '');
  }
  return found;
}
