import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runSystemProgram, type Ran } from './run.ts';

/** The systemd manager of this user. */
export class UserManager {
  readonly #env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv) {
    // `su` and cron leave it out.
    const runtime = env['XDG_RUNTIME_DIR'] || `/run/user/${process.getuid?.() ?? 0}`;
    this.#env = { ...env, XDG_RUNTIME_DIR: runtime };
  }

  /** Where its units of this user lie. */
  get folder(): string {
    const { XDG_CONFIG_HOME: config, HOME: home } = this.#env;
    return join(config || `${home}/.config`, 'systemd/user');
  }

  run(args: readonly string[], ms?: number): Promise<Ran> {
    return runSystemProgram(['systemctl', '--user', ...args], this.#env, ms);
  }

  /** Why it does not answer; undefined where it does. */
  async away(): Promise<string | undefined> {
    const { code, err } = await this.run(['show', '--property=Version'], 5_000);
    if (code === 0) return undefined;
    return code === null ? 'systemctl is not here' : (err.split('\n', 1)[0] ?? '');
  }

  /** What it knows of a unit; one that it does not know has `LoadState` `not-found`. */
  async show(unit: string): Promise<Record<string, string>> {
    const wanted =
      'LoadState,ActiveState,SubState,Result,MainPID,NRestarts,FragmentPath,UnitFileState,ExecMainStatus,ActiveEnterTimestamp,AssertResult';
    const { out } = await this.run(['show', `--property=${wanted}`, `${unit}.service`], 10_000);
    return Object.fromEntries(
      out.split('\n').flatMap((line) => {
        const at = line.indexOf('=');
        return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
      }),
    );
  }

  /** The last lines that the journal has of a unit; empty where there is no journal. */
  async journal(unit: string, lines: number): Promise<string[]> {
    const args = ['--user', '--no-pager', '--quiet', '--output=cat', `--lines=${lines}`, `--unit=${unit}.service`];
    const { code, out } = await runSystemProgram(['journalctl', ...args], this.#env, 10_000);
    return code === 0 ? out.split('\n').filter(Boolean) : [];
  }

  get #user(): string {
    return userInfo().username;
  }

  /** Whether this user's services run without a login, also after a restart of the machine. */
  lingers(): boolean {
    return existsSync(`/var/lib/systemd/linger/${this.#user}`);
  }

  /** Lets them; the manager is then started. Gives why it could not be. */
  async letLinger(): Promise<string | undefined> {
    const { code, err } = await runSystemProgram(['loginctl', 'enable-linger'], this.#env, 20_000);
    if (code !== 0) return code === null ? 'loginctl is not here' : (err.split('\n', 1)[0] ?? 'loginctl failed');
    for (let tries = 0; tries < 20 && (await this.away()) !== undefined; tries += 1) await pause(250);
    return undefined;
  }

  async lingerNoMore(): Promise<void> {
    await runSystemProgram(['loginctl', 'disable-linger'], this.#env, 20_000);
  }
}
