import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Update } from 'grammy/types';

export interface Shown {
  id: number;
  chat: number;
  text: string;
  buttons: { text: string; callback_data: string }[];
  replyTo?: number;
  /** How often it was changed. */
  edits: number;
}
/** What the next calls of a method meet: an error, or `lose`: they act, and the connection is cut before the answer. */
interface Fault {
  method: string;
  code?: number;
  retryAfter?: number;
  lose?: boolean;
  times: number;
}
type Json = Record<string, unknown>;
class Refusal extends Error {
  readonly code: number;
  readonly parameters: Json | undefined;
  constructor(code: number, message: string, parameters?: Json) {
    super(message);
    this.code = code;
    this.parameters = parameters;
  }
}

const MOST_TEXT = 4_096;
const MOST_DATA = 64;

/** A server that answers as the documented Bot API does, for one bot; people are the methods `say` and `press`. */
export class FakeTelegram implements AsyncDisposable {
  token = `4242:${'A'.repeat(35)}`;
  readonly bot = { id: 4_242, is_bot: true, first_name: 'Fleet', username: 'fleet_test_bot' };
  readonly messages: Shown[] = [];
  /** Texts of answers to presses. */
  readonly notices: string[] = [];
  /** Methods, as they were called. */
  readonly calls: string[] = [];
  /** Chats that may not be written to: nobody pressed Start there. */
  readonly closed = new Set<number>();
  readonly files = new Map<string, { path: string; bytes: Buffer }>();
  readonly #faults: Fault[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #updates: Update[] = [];
  #nextUpdate = 700_000;
  #nextMessage = 1;
  #wake: (() => void)[] = [];
  #polling: ((refusal: Refusal) => void) | undefined;
  #port = 0;

  static async start(): Promise<FakeTelegram> {
    const fake = new FakeTelegram();
    await fake.open();
    return fake;
  }

  /** On the same port again, after `close`. */
  async open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Nobody answers there any more; what was said is kept. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  fault(method: string, fault: Omit<Fault, 'method' | 'times'>, times = 1): void {
    this.#faults.push({ method, times, ...fault });
  }

  /** A user writes; gives the id of the message. In the user's own chat, unless a group is named. */
  say(
    user: number,
    text: string,
    more: { chat?: number; replyTo?: number; document?: Json; photo?: Json[] } = {},
  ): number {
    const { chat = user, replyTo, document, photo } = more;
    const id = this.#nextMessage++;
    const known = this.messages.find((one) => one.id === replyTo && one.chat === chat);
    const chatOf =
      chat < 0
        ? { id: chat, type: 'supergroup' as const, title: 'G' }
        : { id: chat, type: 'private' as const, first_name: 'U' };
    const message = {
      ...{ message_id: id, date: 0, chat: chatOf, from: { id: user, is_bot: false, first_name: `User ${user}` } },
      ...(document ? { document, caption: text } : photo ? { photo, caption: text } : { text }),
      ...(replyTo === undefined
        ? {}
        : { reply_to_message: { message_id: replyTo, date: 0, chat: chatOf, text: known?.text ?? '' } }),
    };
    this.#update({ message } as unknown as Partial<Update>);
    return id;
  }

  /** A user taps a button, or what a bad client sends in its place. */
  press(user: number, message: Pick<Shown, 'id' | 'chat' | 'buttons'>, label: string | { data: string }): void {
    const data =
      typeof label === 'string' ? message.buttons.find(({ text }) => text === label)?.callback_data : label.data;
    if (data === undefined) throw new Error(`no button ${JSON.stringify(label)}`);
    const type = message.chat < 0 ? 'supergroup' : 'private';
    const under = { message_id: message.id, date: 0, chat: { id: message.chat, type }, text: '' };
    const from = { id: user, is_bot: false, first_name: `User ${user}` };
    const query = { id: `c${this.#nextUpdate}`, from, message: under, chat_instance: '1', data };
    this.#update({ callback_query: query } as unknown as Partial<Update>);
  }

  in(chat: number): Shown[] {
    return this.messages.filter((message) => message.chat === chat);
  }

  /** The same updates again, as after a crash of Telegram's own. */
  repeat(): void {
    this.#updates = [...this.#all];
    this.#ring();
  }

  readonly #all: Update[] = [];
  #update(update: Partial<Update>): void {
    const made = { update_id: this.#nextUpdate++, ...update } as Update;
    this.#all.push(made);
    this.#updates.push(made);
    this.#ring();
  }

  #ring(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  readonly #methods: Record<string, (body: Json) => unknown> = {
    getMe: () => this.bot,
    getUpdates: (body) => this.#getUpdates(body),
    sendMessage: ({ chat_id: to, text, reply_markup: markup, reply_parameters: reply }) => {
      const chat = Number(to);
      this.#check(String(text), markup);
      if (this.closed.has(chat)) throw new Refusal(403, "Forbidden: bot can't initiate conversation with a user");
      const replyTo = (reply as { message_id?: number } | undefined)?.message_id;
      const message = { id: this.#nextMessage++, chat, text: String(text), buttons: buttonsOf(markup), edits: 0 };
      this.messages.push({ ...message, ...(replyTo === undefined ? {} : { replyTo }) });
      return { message_id: message.id, date: 0, chat: { id: chat, type: 'private' }, text };
    },
    editMessageText: ({ chat_id: to, message_id: id, text, reply_markup: markup }) => {
      this.#check(String(text), markup);
      const message = this.messages.find((one) => one.chat === Number(to) && one.id === Number(id));
      if (!message) throw new Refusal(400, 'Bad Request: message to edit not found');
      const buttons = buttonsOf(markup);
      if (message.text === text && JSON.stringify(message.buttons) === JSON.stringify(buttons))
        throw new Refusal(400, 'Bad Request: message is not modified');
      Object.assign(message, { text, buttons, edits: message.edits + 1 });
      return { message_id: id, date: 0, chat: { id: to, type: 'private' }, text };
    },
    answerCallbackQuery: ({ text }) => {
      this.notices.push(String(text));
      return true;
    },
    getFile: ({ file_id: id }) => {
      const file = this.files.get(String(id));
      if (!file) throw new Refusal(400, 'Bad Request: invalid file_id');
      if (file.bytes.length > 20 * 1024 * 1024) throw new Refusal(400, 'Bad Request: file is too big');
      return { file_id: id, file_unique_id: id, file_size: file.bytes.length, file_path: file.path };
    },
  };

  #check(text: string, markup: unknown): void {
    if (text.length === 0) throw new Refusal(400, 'Bad Request: message text is empty');
    if (text.length > MOST_TEXT) throw new Refusal(400, 'Bad Request: message is too long');
    for (const { callback_data: data } of buttonsOf(markup))
      if (!data || Buffer.byteLength(data) > MOST_DATA) throw new Refusal(400, 'Bad Request: BUTTON_DATA_INVALID');
  }

  /** The newer of two that poll at once ends the older one. */
  async #getUpdates({ offset = 0, timeout = 0 }: Json): Promise<Update[]> {
    this.#polling?.(new Refusal(409, 'Conflict: terminated by other getUpdates request'));
    this.#updates = this.#updates.filter(({ update_id: id }) => id >= Number(offset));
    if (this.#updates.length > 0) return this.#updates.slice(0, 100);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, Number(timeout) * 1_000);
      const over = (work: () => void) => () => (clearTimeout(timer), (this.#polling = undefined), work());
      this.#polling = (refusal) => over(() => reject(refusal))();
      this.#wake.push(over(resolve));
    });
    return this.#updates.slice(0, 100);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, first = '', method = '', ...rest] = (request.url ?? '').split('/');
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const file =
      first === 'file' && method === `bot${this.token}`
        ? [...this.files.values()].find(({ path }) => path === rest.join('/'))
        : undefined;
    if (file) return void response.writeHead(200).end(file.bytes);
    this.calls.push(method);
    try {
      if (first !== `bot${this.token}`) throw new Refusal(401, 'Unauthorized');
      const fault = this.#faults.find((one) => one.times > 0 && one.method === method);
      if (fault) fault.times -= 1;
      if (fault && !fault.lose)
        throw new Refusal(
          fault.code ?? 500,
          'fault',
          fault.retryAfter === undefined ? undefined : { retry_after: fault.retryAfter },
        );
      const act = this.#methods[method];
      if (!act) throw new Refusal(404, 'Not Found');
      const text = Buffer.concat(chunks).toString();
      const result = await act(text ? (JSON.parse(text) as Json) : {});
      if (fault?.lose) return void response.destroy();
      send(200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, parameters } = error;
      send(code, { ok: false, error_code: code, description: message, ...(parameters ? { parameters } : {}) });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ring();
    await this.close();
  }
}

const buttonsOf = (markup: unknown): Shown['buttons'] =>
  ((markup as { inline_keyboard?: Shown['buttons'][] } | undefined)?.inline_keyboard ?? []).flat();
