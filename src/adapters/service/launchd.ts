import { join } from 'node:path';
import { runSystemProgram, type Ran } from './run.ts';

/** The launchd of this user's session, by launchctl(1). */
export class LaunchAgents {
  readonly #env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Where its services say what they say: Console.app shows it too. */
  static logOf(env: NodeJS.ProcessEnv, unit: string): string {
    return join(env['HOME'] ?? '/', 'Library/Logs', `${unit}.log`);
  }

  fileOf(label: string): string {
    return join(this.#env['HOME'] ?? '/', 'Library/LaunchAgents', `${label}.plist`);
  }

  /** Loads and starts it. */
  load(label: string): Promise<Ran> {
    return this.#run('bootstrap', this.#domain, this.fileOf(label));
  }

  /** Ends and unloads it, however long that takes. */
  unload(label: string): Promise<Ran> {
    return this.#run('bootout', `${this.#domain}/${label}`);
  }

  signal(label: string, name: 'SIGTERM'): Promise<Ran> {
    return this.#run('kill', name, `${this.#domain}/${label}`);
  }

  /** What it says of it; undefined where it is not loaded. */
  async state(label: string): Promise<{ state: string; pid: number | null; exitCode: number | null } | undefined> {
    const { code, out } = await this.#run('print', `${this.#domain}/${label}`);
    if (code !== 0) return undefined;
    const field = (name: string): string | undefined => new RegExp(`^\\s*${name} = (.+)$`, 'm').exec(out)?.[1];
    const [pid, exit] = [Number(field('pid')), Number(field('last exit code'))];
    return {
      state: field('state') ?? 'unknown',
      pid: Number.isInteger(pid) ? pid : null,
      exitCode: Number.isInteger(exit) ? exit : null,
    };
  }

  get #domain(): string {
    return `gui/${process.getuid?.() ?? 0}`;
  }

  #run(...args: string[]): Promise<Ran> {
    return runSystemProgram(['launchctl', ...args], this.#env, Infinity);
  }
}
