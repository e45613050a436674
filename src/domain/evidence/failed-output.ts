import { withoutEscapes } from '../values/ansi.ts';

/**
 * How a failure begins in the output of known programs, best kind first: the first line of the best kind that is there counts.
 * It only chooses what a person and the next run read; no verdict depends on it.
 */
const BEGINNINGS: readonly (readonly RegExp[])[] = [
  [
    // node:test, jest, vitest, mocha
    /^\s*not ok \d+(?!.*# (?:TODO|SKIP)\b)/i,
    /^✖ failing tests:/,
    /^\s*● (?!Console$)\S/,
    /^\s*FAIL {2}\S.* > /,
    /^\s*⎯+ (?:Failed|Unhandled) /,
    /^\s*1\) \S/,
    // pytest, unittest
    /^=+ (?:FAILURES|ERRORS) =+$/,
    /^(?:FAIL|ERROR): \w+ \(/,
    // go, cargo
    /^\s*--- FAIL: /,
    /^\S*\.go:\d+:\d+: /,
    /^---- \S+.* stdout ----$/,
    /^error(?:\[E\d+\])?: (?!could not compile|test failed)/,
    // tsc, gcc and clang, eslint, maven
    /\berror TS\d+:/,
    /^\S[^:]*:\d+(?::\d+)?: (?:fatal )?error\b/i,
    /^\s+\d+:\d+\s+error\s/,
    /^\[ERROR\] \S/,
  ],
  // An error that nobody caught
  [
    /^(?:#\s+)?(?:Uncaught )?[\w.]*(?:Error|Exception)\b(?: \[\w+\])?:/,
    /^Traceback \(most recent call last\):/,
    /\bpanicked at\b/,
    /^panic: /,
  ],
  [
    /^npm (?:ERR!|error) (?!A complete log|Lifecycle script|code (?:ELIFECYCLE|1$)|errno|path|command)/,
    /: (?:command )?not found$/,
  ],
  [/\b(?:error|fatal|failed|failure|cannot|unable to)\b/i],
];

/** A frame of the program that runs the code, and not of the code. */
const FOREIGN_FRAME = /^\s*(?:#\s+)?at .*(?:\bnode:|[\\/]node_modules[\\/])/;
const LINE_MAX = 400;
/** What is looked at of a line. */
const LOOK_MAX = 2_000;
const CUT = '[…]';
/** The part of the room that the first failure gets; the rest shows how the output ends. */
const FIRST_PART = 0.7;

/**
 * What a failed program printed, in `max` characters at most: all of it where it is short, else from its first failure on
 * and its end; where no failure can be told, its begin and its end. Without escape sequences, in whole lines.
 */
export function failedOutput(output: string, max: number): string {
  const lines = readable(output);
  const whole = lines.join('\n');
  if (whole.length <= max) return whole;
  const first = firstFailure(lines);
  const rest = first === undefined ? whole : lines.slice(first).join('\n');
  const room = max - 2 * (CUT.length + 1);
  if (first !== undefined && rest.length <= room) {
    // There is room for what led to it as well.
    return `${CUT}\n${takeLast(lines, room).join('\n')}`;
  }
  const begin = takeFirst(lines.slice(first ?? 0), room * (first === undefined ? 1 - FIRST_PART : FIRST_PART));
  const end = takeLast(lines, room - begin.join('\n').length - 1);
  return [...(first ? [CUT] : []), ...begin, CUT, ...end].join('\n');
}

/** What a terminal would show in the end, without frames of others; a line is cut at 400 characters. */
function readable(output: string): string[] {
  const lines = withoutEscapes(output)
    .split('\n')
    .map((line) =>
      shown(line)
        .slice(0, LOOK_MAX)
        .replace(/[^\P{Cc}\t]|\p{Cf}/gu, '')
        .trimEnd(),
    )
    .filter((line, i, all) => !FOREIGN_FRAME.test(line) && (line !== '' || all[i - 1] !== ''))
    .map((line) => (line.length > LINE_MAX ? `${line.slice(0, LINE_MAX - 1)}…` : line));
  const from = lines.findIndex((line) => line !== '');
  return from < 0 ? [] : lines.slice(from, lines.findLastIndex((line) => line !== '') + 1);
}

/** A progress bar writes over its own line. */
const shown = (line: string): string => line.split('\r').findLast((part) => part.trim() !== '') ?? '';

function firstFailure(lines: readonly string[]): number | undefined {
  for (const kind of BEGINNINGS) {
    const first = lines.findIndex((line) => kind.some((beginning) => beginning.test(line)));
    if (first >= 0) return first;
  }
  return undefined;
}

function takeFirst(lines: readonly string[], room: number): string[] {
  let used = -1;
  const end = lines.findIndex((line) => (used += line.length + 1) > room);
  return lines.slice(0, end < 0 ? lines.length : end);
}

function takeLast(lines: readonly string[], room: number): string[] {
  let used = -1;
  const before = lines.findLastIndex((line) => (used += line.length + 1) > room);
  return lines.slice(before + 1);
}
