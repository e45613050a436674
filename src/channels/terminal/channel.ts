import { createInterface } from 'node:readline';
import { userInfo } from 'node:os';
import { Bell } from '../service/bell.ts';
import type { People } from '../service/people.ts';
import { ChannelError, type Button, type Channel, type Incoming, type Post, type Received } from '../port.ts';

const USER = 'terminal';
const LONGEST = 4_096;
const WAIT_MS = 25_000;

/**
 * A chat on lines of text, of one person. Each message is shown with its number: `#3 2` presses its second button, `#3 text` replies
 * to it. Message ids go up from the start of the process, in milliseconds, so that they are unique for ever.
 */
export class TerminalChannel implements Channel {
  readonly name = 'terminal';
  readonly longest = LONGEST;
  readonly #print: (text: string) => void;
  readonly #buttons = new Map<string, Button[]>();
  readonly #typed: Received[] = [];
  readonly #bell = new Bell();
  readonly #ids: string[] = [];
  #last = Date.now();

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  identify = (): Promise<string> => Promise.resolve('here');

  post({ text, buttons = [] }: Post): Promise<string> {
    const id = this.#next();
    this.#ids.push(id);
    this.#buttons.set(id, buttons);
    this.#show(id, text, buttons);
    return Promise.resolve(id);
  }

  edit(id: string, { text, buttons = [] }: Post): Promise<void> {
    // A message of an earlier process is shown anew, under a number of this one.
    if (!this.#ids.includes(id)) this.#ids.push(id);
    this.#buttons.set(id, buttons);
    this.#show(id, text, buttons);
    return Promise.resolve();
  }

  async receive(cursor: number, signal: AbortSignal): Promise<Received[]> {
    while (this.#typed[0] && this.#typed[0].next <= cursor) this.#typed.shift();
    if (this.#typed.length === 0) await this.#bell.wait(WAIT_MS, signal);
    return [...this.#typed];
  }

  acknowledge(_press: string, text: string): Promise<void> {
    this.#print(`(${text})`);
    return Promise.resolve();
  }

  download = (): Promise<Buffer> => Promise.reject(new ChannelError({ kind: 'refused' }, 'a terminal has no files'));

  /** One line that a person typed. */
  type(line: string): void {
    const text = line.trim();
    if (!text) return;
    const id = this.#next();
    this.#typed.push({ next: Number(id) + 1, event: { ...this.#eventOf(text, id) } });
    this.#bell.ring();
  }

  #eventOf(text: string, id: string): Incoming {
    const from = { chat: USER, private: true, user: USER, shown: USER };
    const [, number, rest = ''] = /^#(\d+)\s+([^]*)$/.exec(text) ?? [];
    const of = number === undefined ? undefined : this.#ids[Number(number) - 1];
    if (of === undefined) return { ...from, kind: 'message', id, text, files: [] };
    const button = /^\d+$/.test(rest) ? this.#buttons.get(of)?.[Number(rest) - 1] : undefined;
    return button
      ? { ...from, kind: 'press', press: id, message: of, token: button.token }
      : { ...from, kind: 'message', id, text: rest, replyTo: of, files: [] };
  }

  #show(id: string, text: string, buttons: readonly Button[]): void {
    const number = this.#ids.indexOf(id) + 1;
    const choices = buttons.map(({ label }, index) => `  #${number} ${index + 1}  ${label}`);
    this.#print([`#${number} ${text.replaceAll('\n', '\n   ')}`, ...choices].join('\n'));
  }

  #next(): string {
    this.#last = Math.max(this.#last + 1, Date.now());
    return String(this.#last);
  }
}

/** Lines of `input` are what the one person here says; `end` is called after the last. */
export function openTerminal(given: {
  input: NodeJS.ReadableStream;
  print: (text: string) => void;
  env: NodeJS.ProcessEnv;
  end(): void;
}): { channel: TerminalChannel; people: Pick<People, 'users' | 'ownerChat'> } {
  const channel = new TerminalChannel(given.print);
  createInterface({ input: given.input })
    .on('line', (line) => channel.type(line))
    .once('close', given.end);
  const name = ((): string => {
    try {
      return userInfo().username;
    } catch {
      return given.env['USER'] ?? 'somebody';
    }
  })();
  return { channel, people: { users: new Map([[USER, name]]), ownerChat: USER } };
}
