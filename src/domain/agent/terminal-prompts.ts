import { withoutEscapes } from '../values/ansi.ts';

/**
 * What a program's output ends with where that asks somebody at a terminal for something: a login, a key, a yes, a choice from a
 * menu. Its last lines, 1,000 characters at most; the last URL among them is whole, up to 2,000 more.
 */
export function askedIn(output: string): string | undefined {
  const lines = shownLines(output);
  const last = lines.at(-1) ?? '';
  // An address stands on a line of its own where it is long.
  const asking = /^https?:\/\/\S+$/.test(last) ? `${lines.at(-2) ?? ''} ${last}` : last;
  return ASKS.some((words) => words.test(asking.slice(-ASKING_MAX))) || menuIn(lines) ? block(lines) : undefined;
}

/**
 * The same where the line is not ended, or a menu marks the choice that it stands on: as a program leaves it that waits for the
 * answer, and hardly anything else does.
 */
export function promptIn(output: string): string | undefined {
  const text = plain(output);
  const ended = text.slice(text.trimEnd().length).includes('\n');
  return ended && !menuIn(shownLines(output))?.marked ? undefined : askedIn(output);
}

/** What it says last, bounded likewise; undefined where it says nothing. */
export function lastLines(output: string): string | undefined {
  const lines = shownLines(output);
  return lines.length > 0 ? block(lines) : undefined;
}

const ASKED_LINES = 12;
/** How far above them a URL is looked for. */
const NEAR_LINES = 36;
const ASKED_MAX = 1_000;
const LINE_MAX = 200;
const URL_MAX = 2_000;
/** What is looked at of a line: one with an address, and one of a menu. */
const ASKING_MAX = URL_MAX + LINE_MAX;
const MENU_LINE_MAX = 400;
/** What a menu may have below its choices: which keys to press, an empty prompt. */
const HINTS = 2;

// Words of the agent CLIs and of git, ssh and sudo under them, each at the end of what they say before they wait.
const ASKS: readonly RegExp[] = [
  /[[(](y\/n|yes\/no)(\/\[fingerprint\])?[\])]\s*[?:]?\s*$/i,
  /\b(password|passphrase|username|token|api key|authorization code|verification code)\b[^\n]{0,120}[:?>]\s*$/i,
  /\bpaste\b[^.]{0,60}\b(code|token|key|url)\b[^.]{0,60}$/i,
  /\b(choose|select|enter|pick)\b[^.]{0,60}\b(option|number|choice|one)\b[^.]{0,40}[:?>]\s*$/i,
  /\bdo you (trust|want|wish)\b.*\?/i,
  /\b(allow|approve|permit|proceed|continue)\b[^.]{0,120}\?\s*$/i,
  /\bpress (enter|return|any key)\b/i,
  /\b(log|sign) ?in\b[^.]{0,120}(:|\?|https?:\/\/\S+)\s*$/i,
  /\b(open|visit|go to)\b.{0,80}https?:\/\/\S*(oauth|login|auth|device|activate)\S*/i,
  /\bwaiting for (authentication|authorization|approval|login)\b/i,
];

const CHOICE = /^\W*?([❯›▸→>]\s*)?[([]?(\d{1,2})[.):\]]\s+\S/;
const QUESTION = /\?\W*$|\b(?:which|choose|select|pick|options?)\b.*:\W*$/i;
const HINT = /^\W*$|\b(?:esc|enter|tab|arrows?|press|ctrl|cancel|confirm|select|choice|number)\b/i;
const URL = /https?:\/\/\S+/;

/** A question above choices that are numbered from 1. */
function menuIn(lines: readonly string[]): { marked: boolean } | undefined {
  for (let end = lines.length; end >= Math.max(0, lines.length - HINTS); end -= 1) {
    const choices: RegExpExecArray[] = [];
    for (let at = end - 1; at >= 0; at -= 1) {
      const choice = CHOICE.exec(lines[at]!.slice(0, MENU_LINE_MAX));
      if (!choice) break;
      choices.unshift(choice);
    }
    const numbered = choices.every(([, , number], i) => Number(number) === i + 1);
    const above = (lines[end - choices.length - 1] ?? '').slice(-MENU_LINE_MAX);
    const below = lines.slice(end).map((line) => line.slice(0, MENU_LINE_MAX));
    if (choices.length >= 2 && numbered && QUESTION.test(above) && below.every((line) => HINT.test(line)))
      return { marked: choices.some(([, mark]) => mark !== undefined) };
  }
  return undefined;
}

/** The last lines; where a URL stands not far above them, from before it on. Bounded, but for one URL. */
function block(lines: readonly string[]): string {
  const near = lines.slice(-NEAR_LINES);
  const url = near.findLastIndex((line) => URL.test(line));
  const from = Math.min(near.length - ASKED_LINES, url < 0 ? near.length : url - 1);
  const kept: string[] = [];
  let room = ASKED_MAX;
  for (const [at, line] of [...near.entries()].slice(Math.max(0, from)).reverse()) {
    const whole = at === url;
    const said = whole ? line.slice(0, URL_MAX) : line.slice(-LINE_MAX);
    if (!whole) room -= said.length + 1;
    if (whole || room >= 0) kept.unshift(said);
  }
  return kept.join('\n');
}

/** What stands there, without frames that are drawn around it; what comes twice in a row once. */
const shownLines = (output: string): string[] =>
  plain(output)
    .split('\n')
    .map(withoutFrame)
    .filter((line, i, all) => line !== '' && line !== all[i - 1]);

const FRAME = new Set('│┃|╭╰┌└╮╯┐┘─━');
const isFrame = (character: string): boolean => FRAME.has(character) || character.trim() === '';

/** By characters: a regular expression for the end takes the square of the spaces inside. */
function withoutFrame(line: string): string {
  let [from, to] = [0, line.length];
  while (from < to && isFrame(line[from]!)) from += 1;
  while (to > from && isFrame(line[to - 1]!)) to -= 1;
  return line.slice(from, to);
}

/** Where a link's text does not say where it leads, its address stands beside it. */
const LINK =
  /\u001b\]8;[^;\u0007\u001b]*;([^\u0007\u001b]+)(?:\u0007|\u001b\\)([^\u001b]*)\u001b\]8;;(?:\u0007|\u001b\\)/g;

const plain = (text: string): string =>
  withoutEscapes(text.replace(LINK, (_, url: string, said: string) => (said.includes(url) ? said : `${said} ${url}`)))
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]|\p{Cf}/gu, '');
