import { exit } from 'node:process';
import { text } from 'node:stream/consumers';
import { driveOrder } from '../domain/agent/driver-args.ts';
import { Child } from './child.ts';
import { converse, type Conversation, type Talk } from './conversation.ts';
import { Printer } from './printer.ts';
import { namedSecretsIn, Redaction } from '../domain/secrets/redaction.ts';

/**
 * The agent process of coders that need a conversation: holds it with the agent CLI, its child, and prints events. The one
 * argument is the order, stdin is the prompt. Exit code 0 for an end that was well, else 1, or 128 and the signal's number.
 */
const CODES: Record<string, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

let signal: string | undefined;
let signalled: (signal: string) => void = () => undefined;
const cancelled = new Promise<string>((resolve) => (signalled = resolve));
for (const name of Object.keys(CODES)) process.on(name, () => signalled((signal ??= name)));

const order = driveOrder.parse(JSON.parse(process.argv[2] ?? 'null'));
const redaction = new Redaction(namedSecretsIn(process.env));
const redact = (text: string): string => redaction.text(text);
const child = new Child(order.command, { cwd: order.cwd, redact });
const out = new Printer((line) => void process.stdout.write(line), redact);
// Nobody reads any more: its keeper is gone.
process.stdout.on('error', () => void child.end(0).finally(() => exit(1)));

const talk: Talk = { order, prompt: await text(process.stdin), child, out };
const { ok } = await converse(await conversationOf(talk), talk, cancelled);
await child.end(signal ? 0 : undefined);
exit(signal ? CODES[signal] : Number(!ok));

/** Loaded on demand: the one's library takes 100 ms. */
async function conversationOf(given: Talk): Promise<Conversation> {
  if (order.protocol === 'acp') return (await import('./acp.ts')).acp(given);
  return (await import('./codex.ts')).codex(given);
}
