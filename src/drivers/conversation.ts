import type { DriveInput } from '../domain/agent/driver-args.ts';
import type { Child, Exit } from './child.ts';
import type { End, Printer } from './printer.ts';

/** What a conversation is held with. */
export interface Talk {
  order: DriveInput;
  prompt: string;
  child: Child;
  out: Printer;
}

export interface Conversation {
  /** From the first message to the last word. Never rejects. */
  talk(): Promise<End>;
  /** Asks the agent to stop, in its protocol. */
  cancel(): void;
}

/** How long an agent has to end its turn after it was cancelled; the keeper kills everything 3 s after its TERM. */
const CANCEL_MS = 1_500;
/** What it said last is read after it has gone. */
const LAST_WORDS_MS = 500;

/** Talks to the end, or until the agent is gone, or was cancelled and does not stop. */
export async function converse(conversation: Conversation, { child, out }: Talk, cancelled: Promise<string>) {
  const talked = conversation.talk();
  const gone = child.exited.then(async (exit) => (await first(talked, LAST_WORDS_MS)) ?? endOf(exit, child.tail));
  const stopped = cancelled.then(async (signal): Promise<End> => {
    conversation.cancel();
    await first(Promise.race([talked, child.exited]), CANCEL_MS);
    return { ok: false, failure: 'agent-error', text: `Cancelled by ${signal}. ${out.said}`.trim() };
  });
  const end = await Promise.race([talked, gone, stopped]);
  out.ended(end);
  return end;
}

/** Undefined: not within that time. */
async function first<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function endOf({ code, signal, error }: Exit, tail: string): End {
  const how = error ? `cannot be started: ${error}` : `ended with ${signal ?? `exit code ${code}`}`;
  const text = `The agent ${how} in the middle of the conversation. ${tail.trim().slice(-1_000)}`.trim();
  // Its last words on stderr may be anybody's.
  return { ok: false, failure: 'agent-error', text };
}
