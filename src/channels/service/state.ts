import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { readJson, writeJsonSync } from '../../adapters/disk/json-file.ts';
import { sha256 } from '../../adapters/sha256.ts';
import type { Button } from '../port.ts';

/** What a button does: it names what it was shown for, so that one that is late does nothing. */
export interface Deed {
  act: 'answer' | 'approve' | 'reject' | 'retry' | 'give-up';
  /** Where the button answers a question: the answer. */
  value?: string;
}
export interface KeptButton extends Button {
  deed: Deed;
}

/** What a message asks: `ask` is `q1`, `a1`, or of a parked task which time it is. */
export interface Ask {
  task: string;
  kind: 'question' | 'approval' | 'parked';
  ask: string;
}

/** One message as it should be, and how far that is done. */
export interface Kept {
  chat: string;
  text: string;
  buttons?: KeptButton[];
  /** Buttons that it had: whoever still sees one is told what became of it. */
  past?: KeptButton[];
  /** Id of the message that it answers; `replyToKey`: the same of one of these. */
  replyTo?: string;
  replyToKey?: string;
  about?: Ask;
  /** Null: it was not posted yet, as far as is known. */
  id: string | null;
  /** Digest of what was last sent. */
  sent: string | null;
  /** A post was begun; with no id, nobody knows whether it arrived. */
  begun?: true;
  /** Why the channel does not take it. */
  refused?: string;
  /** Nothing is to change it any more. */
  closed?: true;
  /** Milliseconds, of its last change. */
  at: number;
}

/** A task that somebody started here. */
export interface Followed {
  chat: string;
  open: boolean;
  /** Milliseconds, when it was started. */
  at: number;
}

export interface End {
  chat: string;
  task: string;
  line: string;
  /** Milliseconds */
  at: number;
  /** It waits for the others of its minute. */
  late?: boolean;
}

export interface ChannelState {
  version: 1;
  /** Tokens of buttons are made of it. */
  secret: string;
  cursor: number;
  messages: Record<string, Kept>;
  tasks: Record<string, Followed>;
  /** Users who are not listed, and whom the owner heard of. */
  strangers: string[];
  /** Ends that were not told yet, and when some were told one by one. */
  ends: End[];
  told: number[];
}

const DAY_MS = 86_400_000;
/** A button that is older is unknown, and a task that is closed so long is not followed any more. */
const KEEP_MS = 14 * DAY_MS;
const STRANGERS = 500;

/**
 * The durable state of a channel for one identity there: one file, replaced at once. One process writes it, so each change is made in
 * memory and is on the disk when `change` returns.
 */
export class StateFile {
  readonly #path: string;
  readonly state: ChannelState;

  private constructor(path: string, state: ChannelState) {
    this.#path = path;
    this.state = state;
  }

  static async open(path: string): Promise<StateFile> {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const known = await readJson<ChannelState>(path);
    return new StateFile(path, known ?? EMPTY());
  }

  /** Makes the change and writes it; nothing is written where nothing changed. */
  change<T>(make: (state: ChannelState) => T, nowMs = Date.now()): T {
    const before = JSON.stringify(this.state);
    const made = make(this.state);
    if (JSON.stringify(this.state) === before) return made;
    forget(this.state, nowMs);
    writeJsonSync(this.#path, this.state);
    return made;
  }
}

const EMPTY = (): ChannelState => ({
  ...{ version: 1, secret: randomBytes(24).toString('base64url'), cursor: 0, messages: {}, tasks: {} },
  ...{ strangers: [], ends: [], told: [] },
});

function forget(state: ChannelState, nowMs: number): void {
  for (const [key, { closed, at }] of Object.entries(state.messages))
    if (closed && nowMs - at > KEEP_MS) delete state.messages[key];
  for (const [id, { open, at }] of Object.entries(state.tasks))
    if (!open && nowMs - at > KEEP_MS) delete state.tasks[id];
  state.strangers.splice(0, state.strangers.length - STRANGERS);
}

/** A digest of what people see of a message. */
export const digestOf = ({ text, buttons = [] }: Pick<Kept, 'text' | 'buttons'>): string =>
  sha256(JSON.stringify([text, buttons.map(({ label, token }) => [label, token])])).slice(0, 16);

/** The message as it should be from now on; the same again changes nothing. */
export function want(
  state: ChannelState,
  key: string,
  message: Pick<Kept, 'chat' | 'text'> &
    Partial<Pick<Kept, 'buttons' | 'replyTo' | 'replyToKey' | 'about' | 'closed' | 'past'>>,
): void {
  const known = state.messages[key];
  if (known && digestOf(known) === digestOf(message) && known.closed === message.closed) return;
  const { id = null, sent = null, begun } = known ?? {};
  state.messages[key] = { ...message, id, sent, ...(begun ? { begun } : {}), at: Date.now() };
}

/** Known to the channel by that id. */
export function messageAt(state: ChannelState, chat: string, id: string): [key: string, message: Kept] | undefined {
  return Object.entries(state.messages).find(([, message]) => message.chat === chat && message.id === id);
}

export function buttonOf(state: ChannelState, token: string): { message: Kept; deed: Deed } | undefined {
  for (const message of Object.values(state.messages)) {
    const button = [...(message.buttons ?? []), ...(message.past ?? [])].find((one) => one.token === token);
    if (button) return { message, deed: button.deed };
  }
  return undefined;
}
