import { setTimeout as pause } from 'node:timers/promises';
import { failpoint } from '../../adapters/failpoint.ts';
import { lockForLife } from '../../adapters/daemon/lock.ts';
import { serverTrouble } from '../../adapters/temporal/server-errors.ts';
import type { Fleet } from '../../client.ts';
import { FleetError, wrongState } from '../../domain/error.ts';
import { channelPaths } from '../../domain/people/channel.ts';
import { ChannelError, type Channel, type Received } from '../port.ts';
import { Bell } from './bell.ts';
import { hear, type Ears, type Heard } from './hear.ts';
import type { People } from './people.ts';
import { dueOf, sendDue, takeAgain } from './send.ts';
import { StateFile, want } from './state.ts';
import { Watch } from './watch.ts';

export interface ChannelRun {
  channel: Channel;
  fleet: Fleet;
  people: People;
  /** `$FLEET_HOME` */
  home: string;
  env: NodeJS.ProcessEnv;
  /** One line for whoever looks after this process. */
  say(sentence: string): void;
  /** Trouble that the channel itself cannot tell, once each time that it begins. */
  alarm(sentence: string): Promise<void>;
  /** It is known who the fleet is there, and people are heard from now on. */
  ready?(): void;
  signal: AbortSignal;
}

const ROUND_MS = 2_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** What goes wrong so often for one message, and not for want of a server, will go wrong again. */
const TRIES = 3;

/**
 * Serves a channel until the signal: hears people, looks at the fleet, and sends. What one of the three meets holds up no other.
 *
 *     people ─► receive ─► hear ─► client functions ─► Temporal ─► watch ─► state file ─► send ─► people
 *
 * @throws FleetError (2) where another process serves it from this home
 */
export async function runChannel(run: ChannelRun): Promise<void> {
  const { channel, fleet, people, home } = run;
  const trouble = new Trouble(run);
  const identity = await trouble.until(() => channel.identify());
  if (identity === undefined) return;
  const paths = channelPaths(home, { name: channel.name, identity });
  const file = await StateFile.open(paths.state);
  if (!lockForLife(paths.lock))
    throw wrongState(`another fleet channel run serves ${channel.name} from ${home} already`);
  const watch = new Watch(file, fleet, { ownerChat: people.ownerChat, longest: channel.longest });
  const bells = { look: new Bell(), send: new Bell() };
  const ears: Ears = { channel, fleet, people, identity };
  run.ready?.();
  await Promise.all([
    hearing({ run, ears, file, heard: () => (watch.again(), bells.look.ring(), bells.send.ring()) }),
    watching({ run, file, watch, bells }),
    sending({ run, file, bell: bells.send }),
  ]);
}

interface Part {
  run: ChannelRun;
  file: StateFile;
}

async function hearing({ run, ears, file, heard }: Part & { ears: Ears; heard(): void }): Promise<void> {
  const { channel, signal, people } = run;
  const trouble = new Trouble(run, (sentence, kind) => {
    if (kind !== 'taken') return;
    file.change((state) =>
      want(state, `taken/${Date.now()}`, { chat: people.ownerChat, text: sentence, closed: true }),
    );
    heard();
  });
  const tries = new Map<number, number>();
  while (!signal.aborted) {
    const received = await trouble.until(() => channel.receive(file.state.cursor, signal));
    for (const one of received ?? []) {
      const done = await trouble.until(() => handle(one, { ears, file, tries, env: run.env, say: run.say }));
      if (done === undefined) return;
      heard();
    }
  }
}

async function handle(
  { event, next }: Received,
  given: { ears: Ears; file: StateFile; tries: Map<number, number>; env: NodeJS.ProcessEnv; say(text: string): void },
): Promise<true> {
  const { ears, file, tries } = given;
  const tried = (tries.get(next) ?? 0) + 1;
  const result: Heard = event
    ? await hear(event, ears, file.state).catch(async (error: unknown) => {
        const known =
          error instanceof FleetError ? error : await serverTrouble(error, given.env).catch(() => undefined);
        if (known) throw known;
        tries.set(next, tried);
        if (tried < TRIES) throw error;
        given.say(`a message was given up: ${error instanceof Error ? error.message : String(error)}`);
        return {};
      })
    : {};
  failpoint('channel.heard');
  file.change((state) => {
    state.cursor = Math.max(state.cursor, next);
    if (event) takeAgain(state, event.chat);
    result.change?.(state);
  });
  failpoint('channel.recorded');
  tries.delete(next);
  const { press, text } = result.acknowledge ?? {};
  // It lasts some seconds on a screen: what counts is in the message.
  if (press !== undefined && text !== undefined) void ears.channel.acknowledge(press, text).catch(() => undefined);
  return true;
}

async function watching({
  run,
  file,
  watch,
  bells,
}: Part & { watch: Watch; bells: { look: Bell; send: Bell } }): Promise<void> {
  const trouble = new Trouble(run);
  while (!run.signal.aborted) {
    await trouble.until(async () => (await watch.round(), true));
    if (dueOf(file.state).length > 0) bells.send.ring();
    await bells.look.wait(ROUND_MS, run.signal);
  }
}

async function sending({ run, file, bell }: Part & { bell: Bell }): Promise<void> {
  const trouble = new Trouble(run);
  while (!run.signal.aborted) {
    await trouble.until(async () => (await sendDue(file, run.channel, run.say), true));
    await bell.wait(LONGEST_WAIT_MS, run.signal);
  }
}

/** Tries something again until it goes well; what is in its way is said once. */
class Trouble {
  readonly #run: ChannelRun;
  readonly #told: (sentence: string, kind: string) => void;
  #said = '';

  constructor(run: ChannelRun, told: (sentence: string, kind: string) => void = () => {}) {
    this.#run = run;
    this.#told = told;
  }

  /** Undefined: it is time to stop. */
  async until<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { signal } = this.#run;
    for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs)) {
      try {
        const done = await work();
        this.#said = '';
        return done;
      } catch (error) {
        if (signal.aborted) return undefined;
        const slow = error instanceof ChannelError && error.trouble.kind === 'slow-down' ? error.trouble.afterMs : 0;
        if (!slow) await this.#say(error);
        await pause(slow || waitMs, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async #say(error: unknown): Promise<void> {
    const known =
      error instanceof FleetError || error instanceof ChannelError
        ? error
        : await serverTrouble(error, this.#run.env).catch(() => undefined);
    const sentence = (known ?? (error as Error)).message;
    if (sentence === this.#said) return;
    this.#said = sentence;
    this.#run.say(`${this.#run.channel.name}: ${sentence}`);
    const kind = error instanceof ChannelError ? error.trouble.kind : 'away';
    this.#told(sentence, kind);
    if (kind === 'token' || kind === 'taken') await this.#run.alarm(sentence).catch(() => undefined);
  }
}
