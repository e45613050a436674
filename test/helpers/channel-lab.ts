import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { PartialConfig } from '../../src/config.ts';
import { FakeTelegram, type Shown } from './fake-telegram.ts';
import type { TestFleet } from './fleet.ts';
import { until } from './until.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
export const ADA = 11;
export const BEN = 12;
export const STRANGER = 99;
export const GROUP = -100_500;

export interface ChannelProcess extends AsyncDisposable {
  output(): string;
  /** Resolves when it is dead. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  ended: Promise<void>;
}

/** A bot on the stand-in server, and `fleet channel run` as a real process; it may be started as often as one likes. */
export class ChannelLab implements AsyncDisposable {
  readonly telegram: FakeTelegram;
  readonly home: string;
  readonly #fleet: TestFleet;
  readonly processes = new Set<ChannelProcess>();

  private constructor(parts: { telegram: FakeTelegram; home: string; fleet: TestFleet }) {
    ({ telegram: this.telegram, home: this.home } = parts);
    this.#fleet = parts.fleet;
  }

  static async start(fleet: TestFleet, name: string, config: PartialConfig = {}): Promise<ChannelLab> {
    const telegram = await FakeTelegram.start();
    const home = `${fleet.root}/${name}`;
    await mkdir(home, { recursive: true });
    const lab = new ChannelLab({ telegram, home, fleet });
    await lab.token();
    const { channels, ...rest } = config;
    await writeFile(
      `${home}/config.yaml`,
      stringify({
        ...rest,
        channels: {
          ...channels,
          telegram: {
            token: { file: 'bot.token' },
            api: telegram.url,
            users: { ada: ADA, ben: BEN },
            ...channels?.telegram,
          },
        },
      }),
    );
    return lab;
  }

  /** Puts the bot's token of now where the configuration points. */
  token(): Promise<void> {
    return writeFile(`${this.home}/bot.token`, this.telegram.token, { mode: 0o600 });
  }

  /** A process that serves the bot, once it is heard. */
  async run(env: Record<string, string> = {}): Promise<ChannelProcess> {
    const process = this.spawn(env);
    let over = false;
    void process.ended.then(() => (over = true));
    await until(() => {
      if (over) throw new Error(`the channel ended: ${process.output()}`);
      return /is served/.test(process.output());
    });
    return process;
  }

  spawn(env: Record<string, string> = {}): ChannelProcess {
    const child = spawn(process.execPath, [MAIN, 'channel', 'run'], {
      env: { ...this.#fleet.server.env, FLEET_HOME: this.home, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const run = follow(child);
    this.processes.add(run);
    void run.ended.then(() => this.processes.delete(run));
    return run;
  }

  /** The message in a chat that has this text, once there is one. */
  shown(chat: number, text: string | RegExp): Promise<Shown> {
    const has = (message: Shown) => (typeof text === 'string' ? message.text.includes(text) : text.test(message.text));
    return until(() => this.telegram.in(chat).find(has));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const run of this.processes) await run.kill();
    await this.telegram[Symbol.asyncDispose]();
  }
}

function follow(child: ChildProcess): ChannelProcess {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += data.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal);
    await ended;
  };
  return { output: () => output, ended, kill, [Symbol.asyncDispose]: () => kill() };
}
