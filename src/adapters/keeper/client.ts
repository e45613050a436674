import { setTimeout as sleep } from 'node:timers/promises';
import { FleetError, wrongInput } from '../../domain/error.ts';
import type { HomeLayout } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { StopReason } from '../../domain/run/outcome.ts';
import { dial, Link } from '../daemon/link.ts';
import {
  DEFAULT_LADDER,
  PROTOCOL,
  type HeldRun,
  type Ladder,
  type LaunchAnswer,
  type LaunchInput,
  type Operation,
  type Operations,
  type RunEnd,
  type RunStatus,
} from './protocol.ts';
import { KEEPER_ENTRY, startKeeper } from '../daemon/start.ts';

export interface KeeperOptions {
  /** Its folder must exist. */
  home: HomeLayout;
  /** Arguments for node that run the keeper, without the home. */
  entry?: readonly string[];
  ladder?: Ladder;
  /** Milliseconds without `contact` after which the keeper stops every run as `host-lost`. */
  selfKillMs: number;
}

/** The connection to the keeper ended before it answered. Its agents died with it, unless only the connection broke: ask again. */
export class KeeperLost extends Error {
  override readonly name = 'KeeperLost';
}

/** All methods connect anew, and start a keeper, where the last one is gone. @throws KeeperLost, FleetError */
export interface KeeperClient {
  launch(order: LaunchInput): Promise<LaunchAnswer>;
  /** Does not wait for the end. Only the first reason of a run counts. */
  stop(order: RunRef & { reason: StopReason }): Promise<{ stopping: boolean }>;
  status(ref: RunRef): Promise<RunStatus>;
  list(): Promise<HeldRun[]>;
  /** Resolves when the run is no longer live. */
  wait(ref: RunRef): Promise<RunEnd>;
  /** When the message that the server has answered was sent, by `bootSeconds()`. */
  contact(proof: { sentAtBootSeconds: number }): Promise<void>;
  forget(ref: RunRef): Promise<void>;
  /** The process id of the keeper now connected. */
  pid(): Promise<number>;
  /** Ends the connection for good; the runs go on. */
  close(): void;
}

/** Milliseconds for a keeper to start and answer. */
const START_MS = 15_000;
type KeeperLink = Link<Operations> & { keeperPid: number };

export const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/** Connects to the home's keeper, or starts it. @throws FleetError */
export async function connectKeeper(options: KeeperOptions): Promise<KeeperClient> {
  const client = new Client(options);
  await client.pid();
  return client;
}

class Client implements KeeperClient {
  readonly #options: KeeperOptions;
  #link: Promise<KeeperLink> | undefined;
  #closed = false;

  constructor(options: KeeperOptions) {
    const path = options.home.keeperSocket;
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH)
      throw wrongInput(`the path of the keeper's socket is longer than ${MAX_SOCKET_PATH} bytes: ${path}`, {
        hint: 'choose a shorter FLEET_HOME',
      });
    this.#options = options;
  }

  launch = (order: LaunchInput) => this.#ask('launch', order);
  stop = (order: RunRef & { reason: StopReason }) => this.#ask('stop', order);
  status = (ref: RunRef) => this.#ask('status', ref);
  list = () => this.#ask('list', {});
  wait = (ref: RunRef) => this.#ask('wait', ref);
  contact = async (proof: { sentAtBootSeconds: number }) => void (await this.#ask('contact', proof));
  forget = async (ref: RunRef) => void (await this.#ask('forget', ref));
  pid = async () => (await this.#connected()).keeperPid;

  close(): void {
    this.#closed = true;
    void this.#link?.then((link) => link.close()).catch(() => undefined);
    this.#link = undefined;
  }

  async #ask<Op extends Operation>(op: Op, args: Operations[Op]['asks']): Promise<Operations[Op]['answers']> {
    return (await this.#connected()).ask(op, args);
  }

  async #connected(): Promise<KeeperLink> {
    if (this.#closed) throw new Error('the connection to the keeper was closed by this worker');
    if (
      this.#link &&
      (await this.#link.then(
        (link) => link.broken,
        () => true,
      ))
    )
      this.#link = undefined;
    this.#link ??= this.#open();
    return this.#link;
  }

  /** Two clients may both start a keeper: one gets the lock, the other one ends at once, and both clients find the first. */
  async #open(): Promise<KeeperLink> {
    const { home, entry = KEEPER_ENTRY, selfKillMs, ladder = DEFAULT_LADDER } = this.#options;
    const until = performance.now() + START_MS;
    let starting: { ended: boolean } | undefined;
    while (performance.now() < until) {
      const socket = await dial(home.keeperSocket);
      if (socket) {
        const link: Link<Operations> = new Link(socket, () => new KeeperLost('the connection to the keeper was lost'));
        const hello = await link.ask('hello', { protocol: PROTOCOL, selfKillMs, ladder }).catch(() => undefined);
        if (hello && hello.protocol !== PROTOCOL)
          throw new FleetError(
            'conflict',
            `the keeper of ${home.root} is of another version: wait for its runs to end`,
          );
        if (hello) return Object.assign(link, { keeperPid: hello.pid });
      }
      if (!starting || starting.ended) starting = startKeeper({ home, entry });
      await sleep(10);
    }
    throw new FleetError('failed', `the keeper of ${home.root} does not start`, { hint: `see ${home.keeperLog}` });
  }
}
