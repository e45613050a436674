import { withoutEscapes } from './escapes.ts';

/** The last line of a program's output where that asks somebody at a terminal for something: a login, a key, a yes. */
export function askedIn(output: string): string | undefined {
  const last = plain(output)
    .split('\n')
    .findLast((line) => line.trim() !== '');
  return last !== undefined && ASKS.some((words) => words.test(last)) ? last.trim().slice(0, ASKED_MAX) : undefined;
}

/** The same where the line is not ended: as a program leaves it that waits for the answer, and hardly anything else does. */
export const promptIn = (output: string): string | undefined =>
  /\n\s*$/.test(plain(output)) ? undefined : askedIn(output);

const ASKED_MAX = 200;

// Words of the agent CLIs and of git, ssh and sudo under them, each at the end of what they say before they wait.
const ASKS: readonly RegExp[] = [
  /[[(](y\/n|yes\/no)(\/\[fingerprint\])?[\])]\s*[?:]?\s*$/i,
  /\b(password|passphrase|username|token|api key|authorization code|verification code)\b[^\n]{0,120}[:?>]\s*$/i,
  /\bdo you (trust|want|wish)\b.*\?/i,
  /\b(allow|approve|permit|proceed|continue)\b[^.]{0,120}\?\s*$/i,
  /\bpress (enter|return|any key)\b/i,
  /\b(log|sign) ?in\b[^.]{0,120}(:|\?|https?:\/\/\S+)\s*$/i,
  /\b(open|visit|go to)\b.{0,80}https?:\/\/\S*(oauth|login|auth|device|activate)\S*/i,
  /\bwaiting for (authentication|authorization|approval|login)\b/i,
];

const plain = (text: string): string => withoutEscapes(text).replace(/\r\n?/g, '\n');
