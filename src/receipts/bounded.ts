import { withoutKeys } from '../domain/secrets/redact-keys.ts';

/** A receipt's evidence is small, and signed for good: these keep it below its 4 KB, and keys out of it. */

const SAMPLE = 10;
const ITEM = 100;
const COMMAND_MAX = 200;

/** The first of them, each cut; how many there were in all is told beside. */
export const sample = (items: readonly string[]): string[] => items.slice(0, SAMPLE).map((item) => excerpt(item, ITEM));

/** What an agent said or called, cut, without keys. */
export const excerpt = (text: string, max: number): string => clip(withoutKeys(text.slice(0, max * 10)), max);

export const clip = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);

/** `a, b and 3 more`, for a sentence. */
export function named(items: readonly string[], most = 3): string {
  const shown = items.slice(0, most).map((item) => excerpt(item, ITEM));
  const rest = items.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}

export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

export const quoted = (command: string): string => `\`${clip(command, COMMAND_MAX)}\``;
