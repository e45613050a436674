/**
 * A channel: where people and the fleet talk in messages. An adapter is these few functions; what is said, to whom, and how often is
 * the service's. Message and chat ids are the channel's own, as text.
 */
export interface Channel {
  /** `telegram`; also in `by`, as in `ada@telegram`. */
  readonly name: string;
  /** Most UTF-16 units of one message. */
  readonly longest: number;
  /** Who the fleet is there: state is kept for one identity. @throws ChannelError */
  identify(): Promise<string>;
  /** Sends a message and gives its id. @throws ChannelError */
  post(message: Post): Promise<string>;
  /** Makes a message what is given; one that is so already is left. @throws ChannelError */
  edit(id: string, message: Post): Promise<void>;
  /**
   * Waits for what people say from `cursor` on, a while at most: each with the cursor behind it. What is before the cursor that is
   * asked for is forgotten by the channel, and nothing else. @throws ChannelError
   */
  receive(cursor: number, signal: AbortSignal): Promise<Received[]>;
  /** Tells whoever pressed a button what came of it; may get lost. @throws ChannelError */
  acknowledge(press: string, text: string): Promise<void>;
  /** The bytes of a file, `most` at most. @throws ChannelError */
  download(file: string, most: number): Promise<Buffer>;
}

/** Without an event where it is nothing that a fleet can hear. */
export interface Received {
  next: number;
  event?: Incoming;
}

export interface Post {
  chat: string;
  /** Plain text, `longest` at most. */
  text: string;
  buttons?: Button[];
  /** Id of the message that it answers; one that is gone does not matter. */
  replyTo?: string;
}

export interface Button {
  label: string;
  /** Comes back when it is pressed: 40 letters and digits at most. */
  token: string;
}

interface From {
  chat: string;
  /** A person's own chat, that nobody else is in. */
  private: boolean;
  user: string;
  /** As the channel shows the user; text of a stranger. */
  shown: string;
}
/** `id` of a message is unique in its chat, for ever. */
export type Incoming = From &
  (
    | { kind: 'message'; id: string; text: string; replyTo?: string; files: FileOffer[] }
    | { kind: 'press'; press: string; message: string; token: string }
  );

export interface FileOffer {
  /** What `download` takes. */
  id: string;
  name: string;
  /** As far as the channel tells. */
  bytes: number;
}

export type ChannelTrouble =
  /** Not now: again after `afterMs`. */
  | { kind: 'slow-down'; afterMs: number }
  /** No answer, or one that says nothing: again later. `unsent`: nothing can have arrived. */
  | { kind: 'away'; unsent?: true }
  /** This one message, chat or file will never do. */
  | { kind: 'refused' }
  /** The token is no good any more. */
  | { kind: 'token' }
  /** Somebody else receives for the same identity. */
  | { kind: 'taken' };

/** One sentence that names what a person can mend; it never has the token. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError';
  readonly trouble: ChannelTrouble;
  constructor(trouble: ChannelTrouble, message: string) {
    super(message);
    this.trouble = trouble;
  }
}
