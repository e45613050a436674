import { Api } from 'grammy';
import { ChannelError, type Channel, type Post, type Received } from '../port.ts';
import { fetchFile } from './fetch-file.ts';
import { incomingOf } from './incoming.ts';
import { troubleOf } from './trouble.ts';

/** grammY's type is that of a polyfill; it takes the platform's own. */
type Signal = Parameters<Api['getUpdates']>[1];

/** How long one call for updates waits, in seconds. */
const POLL_S = 25;
const CALL_S = 20;
/** As the Bot API has it, in UTF-16 units. */
const LONGEST = 4_096;
/** Characters of the answer to a press. */
const NOTICE = 200;

/** A bot by the Bot API, by long polling. `token` is asked for anew after one was refused. */
export class TelegramChannel implements Channel {
  readonly name = 'telegram';
  readonly longest = LONGEST;
  readonly #root: string;
  readonly #readToken: () => Promise<string>;
  #apis: { token: string; calls: Api; polls: Api } | undefined;
  #username: string | undefined;

  constructor(given: { api: string; token: () => Promise<string> }) {
    this.#root = given.api.replace(/\/+$/, '');
    this.#readToken = given.token;
  }

  async identify(): Promise<string> {
    const me = await this.#call(({ calls }) => calls.getMe());
    this.#username = me.username;
    return String(me.id);
  }

  /** The bot's name, once it is identified. */
  get username(): string | undefined {
    return this.#username;
  }

  async post(message: Post): Promise<string> {
    const { chat, text, replyTo } = message;
    const reply = replyTo
      ? { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } }
      : {};
    const more = { ...looksOf(message), ...reply };
    const sent = await this.#call(({ calls }) => calls.sendMessage(Number(chat), text, more));
    return String(sent.message_id);
  }

  async edit(id: string, message: Post): Promise<void> {
    const { chat, text } = message;
    await this.#call(({ calls }) => calls.editMessageText(Number(chat), Number(id), text, looksOf(message)));
  }

  async receive(cursor: number, signal: AbortSignal): Promise<Received[]> {
    const wanted = { offset: cursor, timeout: POLL_S, allowed_updates: ['message', 'callback_query'] as const };
    const updates = await this.#call(({ polls }) => polls.getUpdates(wanted, signal as unknown as Signal));
    return updates.map((update) => {
      const event = incomingOf(update, this.#username);
      return { next: update.update_id + 1, ...(event ? { event } : {}) };
    });
  }

  async acknowledge(press: string, text: string): Promise<void> {
    await this.#call(({ calls }) => calls.answerCallbackQuery(press, { text: text.slice(0, NOTICE) }));
  }

  async download(file: string, most: number): Promise<Buffer> {
    const { file_path: path } = await this.#call(({ calls }) => calls.getFile(file));
    if (path === undefined) throw new ChannelError({ kind: 'refused' }, 'Telegram has no path for that file');
    const url = `${this.#root}/file/bot${this.#apis?.token}/${path}`;
    return fetchFile(url, most);
  }

  async #call<T>(work: (apis: { calls: Api; polls: Api }) => Promise<T>): Promise<T> {
    this.#apis ??= this.#open(await this.#readToken());
    try {
      return await work(this.#apis);
    } catch (error) {
      const named = troubleOf(error);
      if (named.trouble.kind === 'token') this.#apis = undefined;
      throw named;
    }
  }

  #open(token: string): { token: string; calls: Api; polls: Api } {
    const api = (timeoutSeconds: number) => new Api(token, { apiRoot: this.#root, timeoutSeconds });
    return { token, calls: api(CALL_S), polls: api(POLL_S + CALL_S) };
  }
}

/** One button a row: answers may be long. */
function looksOf({ buttons = [] }: Post) {
  const rows = buttons.map(({ label, token }) => [{ text: label, callback_data: token }]);
  return { reply_markup: { inline_keyboard: rows }, link_preview_options: { is_disabled: true } };
}
