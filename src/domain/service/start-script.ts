/** The script that a machine's service manager starts a worker by: its environment stands in it, so it is for its owner alone. */

export interface StartScript {
  /** The service's name: `fleet-worker`, `fleet-worker-build-7`. */
  unit: string;
  /** Absolute. */
  node: string;
  /** The file of this package's command, absolute. */
  main: string;
  /** `worker` with its flags. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Read by the shell before the worker begins; absolute. */
  envSetup?: string | undefined;
  /** Lingering was off before this service was installed. */
  turnedLingerOn?: boolean;
}

/** By this line a file is known to be ours. */
export const MARK = '# Written by fleet worker install';
const LINGER = '# It turned lingering on';

/** As one word of a POSIX shell. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** @param shell what `envSetup` is written for, e.g. `/bin/bash` */
export function startScript(of: StartScript, shell: string): string {
  const { unit, node, main, args, env, envSetup, turnedLingerOn } = of;
  return [
    `#!${shell}`,
    `${MARK}: ${unit}`,
    ...(turnedLingerOn ? [LINGER] : []),
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    ...(envSetup === undefined ? [] : [`. ${quoted(envSetup)} || exit 1`]),
    `export MALLOC_ARENA_MAX=2`,
    `exec ${[node, '--max-semi-space-size=2', main, ...args].map(quoted).join(' ')}`,
    '',
  ].join('\n');
}

export const isOurs = (text: string): boolean => text.includes(MARK);
export const turnedLingerOn = (script: string): boolean => script.includes(LINGER);

/** Secrets stay out of where others can read them. */
const SECRET = /KEY_DATA$|API_KEY$|TOKEN$|SECRET|PASSWORD|GRPC_META/;

/** What a worker needs of the environment that it is installed from: the fleet's and Temporal's own variables, and where programs are. */
export function serviceEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const wanted = Object.entries(env).filter(
    (one): one is [string, string] =>
      Boolean(one[1]) && (/^(FLEET|TEMPORAL)_[A-Z0-9_]+$/.test(one[0]) || /^(PATH|LANG|LC_ALL|TZ)$/.test(one[0])),
  );
  return Object.fromEntries(wanted.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Names of the variables of `env` that nobody else may read. */
export const secretsIn = (env: Readonly<Record<string, string>>): string[] =>
  Object.keys(env).filter((name) => SECRET.test(name));
