import type { Fleet } from '../client.ts';
import type { Config } from '../config.ts';
import { parseDuration } from '../domain/values/duration.ts';

/** A command is data: what it takes, and the one function that does it. All share the runner in run.ts; `commands.ts` names them. */
export interface Command<F extends object = Record<string, never>> {
  flags?: Flag[];
  /** Shown by --help; the first is what most people want. */
  examples: string[];
  /** Anything worth knowing beyond the flags; shown by --help. */
  notes?: string;
  /** The exit code, where it is not 0. */
  run(cli: Cli, given: { args: string[]; flags: F }): Promise<number | void>;
}

export interface Flag {
  /** In commander's notation, e.g. `--allow <glob>`. */
  flag: string;
  about: string;
  /** May be given more than once; the value is a list. */
  many?: true;
  parse?: (text: string) => unknown;
}

/** A parser's way to say no. */
export class InvalidValue {
  /** E.g. `must be a number`. */
  readonly must: string;
  constructor(must: string) {
    this.must = must;
  }
}

export const number = (text: string): number | InvalidValue =>
  text.trim() === '' || Number.isNaN(Number(text)) ? new InvalidValue('must be a number') : Number(text);
export const whole = (text: string): number | InvalidValue =>
  /^\d+$/.test(text) ? Number(text) : new InvalidValue('must be a whole number');
export const durationMs = (text: string): number | InvalidValue =>
  parseDuration(text) || new InvalidValue('must be a duration such as 90s, 10m or 2h');
export const oneOf =
  <T extends string>(values: readonly T[]) =>
  (text: string): T | InvalidValue =>
    values.find((value) => value === text) ?? new InvalidValue(`must be one of ${values.join(', ')}`);

/** The outside world as a command sees it. Tests bring their own. */
export interface Cli {
  cwd: string;
  env: NodeJS.ProcessEnv;
  home: string;
  json: boolean;
  /** stdout is a terminal. */
  tty: boolean;
  /** Columns of the terminal. */
  width: number;
  /** One line (or several) on stdout: what was asked for. */
  out(text: string): void;
  /** As it is, on stdout, without a line break. */
  raw(text: string): void;
  /** One line on stderr: what a person should know beside it. */
  note(text: string): void;
  /** The result: as JSON on one line with --json, else as people read it. */
  print(value: unknown, human: () => string): void;
  /** All of it; with `maxBytes` no more than what shows that it is longer. */
  stdin(maxBytes?: number): Promise<string>;
  /** Whether a person at the terminal says yes; undefined: there is nobody to ask. */
  agreed(question: string): Promise<boolean | undefined>;
  /** The effective configuration; flags win. */
  config(flags?: object): Config;
  /** The one connection of this command, closed by the runner. */
  fleet(): Promise<Fleet>;
  /** Ctrl-C or TERM from now on is the command's to handle, until `[Symbol.dispose]`. */
  onSignal(listener: (signal: NodeJS.Signals) => void): Disposable;
}

/** Erases the flags' type, so that commands of all kinds fit into one table. */
export const command = <F extends object = Record<string, never>>(it: Command<F>): Command => it as unknown as Command;
