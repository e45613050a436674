import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { stringify } from 'yaml';
import type { PartialConfig } from '../../src/config.ts';
import { keeperOf, liveAgents, type LiveAgent } from '../helpers/live-agents.ts';
import { startMachine, type Machine } from '../helpers/network.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const DISK = '200m';

export interface SiteOptions {
  index: number;
  root: string;
  /** `127.0.0.1:<port>` */
  server: string;
  env: NodeJS.ProcessEnv;
  config: PartialConfig;
  /** With a network and a disk of its own; else plain processes on this host. */
  machine: boolean;
}

/** One worker with its home, which outlives its processes. */
export class Site implements AsyncDisposable {
  readonly index: number;
  readonly home: string;
  readonly machine: Machine | undefined;
  readonly #options: SiteOptions;
  #worker: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  /** Its processes are stopped, or have gone on only just now. */
  asleep = false;
  /** One fault at a time. */
  troubled = false;

  private constructor(options: SiteOptions, machine: Machine | undefined) {
    this.#options = options;
    this.index = options.index;
    this.home = `${options.root}/site-${options.index}`;
    this.machine = machine;
  }

  static async make(options: SiteOptions): Promise<Site> {
    const site = new Site(options, options.machine ? await startMachine(options.server) : undefined);
    await mkdir(site.home);
    if (site.machine) await execa('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', site.home]);
    await writeFile(`${site.home}/config.yaml`, stringify(options.config));
    return site;
  }

  async start(): Promise<void> {
    if (this.running) return;
    const { machine } = this;
    const [file, ...args] = [...(machine?.prefix ?? []), MAIN, 'worker'];
    const log = await open(`${this.#options.root}/worker-${this.index}.log`, 'a');
    const address = machine?.address ?? this.#options.server;
    const env = { ...this.#options.env, FLEET_HOME: this.home, TEMPORAL_ADDRESS: address };
    const child = spawn(file!, args, { env, stdio: ['ignore', log.fd, log.fd] });
    this.#worker = child;
    this.#exited = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
    await log.close();
  }

  get running(): boolean {
    return this.#worker !== undefined && this.#worker.exitCode === null && this.#worker.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    if (this.running) this.#worker!.kill(name);
  }

  async end(name: NodeJS.Signals): Promise<void> {
    this.signal(name);
    await this.#exited;
  }

  async agents(): Promise<LiveAgent[]> {
    return (await liveAgents()).filter(({ work }) => work.startsWith(`${this.home}/`));
  }

  async keeper(): Promise<number | undefined> {
    const [agent] = await this.agents();
    return agent && keeperOf(agent).catch(() => undefined);
  }

  async fillDisk(): Promise<void> {
    await execa('dd', ['if=/dev/zero', `of=${this.home}/filler`, 'bs=64k'], { reject: false });
  }

  async freeDisk(): Promise<void> {
    await rm(`${this.home}/filler`, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
    await this.machine?.[Symbol.asyncDispose]();
    if (this.machine) await execa('umount', ['-l', this.home]);
  }
}
