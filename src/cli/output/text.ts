import { stripVTControlCharacters, styleText } from 'node:util';

/** Text for terminals. Whatever an agent or a title says is stripped first: it may try to move the cursor or lie. */

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Marks that turn text around or hide it. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** No escape sequences, control characters or direction marks; line breaks and tabs stay. */
export function clean(text: string): string {
  return stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replace(CONTROL, '').replace(INVISIBLE, '');
}

/** As {@link clean}, on one line of at most `length` characters. */
export function oneLine(text: string, length = Infinity): string {
  const line = clean(text).replace(/\s+/g, ' ').trim();
  const chars = Array.from(line);
  return chars.length <= length
    ? line
    : `${chars
        .slice(0, Math.max(0, length - 1))
        .join('')
        .trimEnd()}…`;
}

/** As {@link clean}, its lines below each other behind `indent`, of `length` characters at most. */
export function paragraph(text: string, indent: string, length = 4_000): string {
  const lines = clean(text).trim();
  return (lines.length <= length ? lines : `${lines.slice(0, length - 1)}…`).replaceAll('\n', `\n${indent}`);
}

/** JSON on one line; what could confuse a terminal is escaped, and reads back the same. */
export function toJson(value: unknown): string {
  const escape = (chars: string): string =>
    chars.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return JSON.stringify(value).replace(CONTROL, escape).replace(INVISIBLE, escape);
}

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Colours only on a terminal, and never where NO_COLOR is set. */
export const painter = ({ tty, env }: { tty: boolean; env: NodeJS.ProcessEnv }): Paint =>
  tty && !env['NO_COLOR'] ? (style, text) => styleText(style, text) : (_style, text) => text;

const STYLES: Record<string, Parameters<typeof styleText>[0]> = {
  done: 'green',
  failed: 'red',
  cancelled: 'dim',
  parked: 'yellow',
  'awaiting-approval': 'yellow',
  'awaiting-answer': 'yellow',
  blocked: 'dim',
  lost: 'red',
  silent: 'yellow',
  holding: 'yellow',
  paused: 'yellow',
  draining: 'yellow',
  stopped: 'red',
  running: 'cyan',
};
export const paintState = (paint: Paint, state: string): string =>
  STYLES[state] ? paint(STYLES[state], state) : state;

/** 950, 12.3k, 4.1M */
export function shortNumber(value: number): string {
  if (value < 1_000) return String(value);
  return value < 999_950 ? `${(value / 1_000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}
