import { describe, expect, test } from '@jest/globals';
import { NewText } from '../../../src/domain/evidence/new-text.ts';

/** How many of the last lines were new, behind all before. */
function newOf(lines: readonly string[], last = 1): number {
  const text = new NewText();
  for (const line of lines.slice(0, -last)) text.push(`${line}\n`);
  const before = text.fresh;
  for (const line of lines.slice(-last)) text.push(`${line}\n`);
  return text.fresh - before;
}
const times = (n: number, make: (i: number) => string) => Array.from({ length: n }, (_, i) => make(i));

describe('is not new', () => {
  test.each([
    ['one line again and again', times(50, () => 'Working on it …')],
    ["a spinner's seconds", times(50, (i) => `${'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[i % 10]} Thinking… ${i}s`)],
    ['minutes and seconds', times(50, (i) => `Still creating... [${i}m${i}s elapsed]`)],
    ['a clock', times(50, (i) => `[2026-11-23 12:${10 + i}:00.123] waiting`)],
    ['a counter', times(50, (i) => `still working ${i}`)],
    ['colours', times(50, (i) => `\u001b[3${i % 8}mworking\u001b[0m`)],
    ['a state with another id', times(50, (i) => `{"type":"status","uuid":"${crypto.randomUUID()}","ms":${i}}`)],
    ['three lines in turn', times(51, (i) => ['a', 'b', 'c'][i % 3]!)],
    ['empty lines', times(50, () => '  ')],
  ])('%s', (_, lines) => expect(newOf(lines, 10)).toBe(0));

  test('a line that is written over itself', () => {
    const text = new NewText();
    for (let i = 0; i < 100; i += 1) text.push(`\r⠋ Thinking… ${i}s`);
    expect(text.fresh).toBe(1);
  });

  test('what comes again without an end', () => {
    const text = new NewText();
    for (let i = 0; i < 3_000; i += 1) text.push('working '.repeat(1 + (i % 3)));
    const { fresh } = text;
    for (let i = 0; i < 1_000; i += 1) text.push('working '.repeat(1 + (i % 3)));
    expect(text.fresh).toBe(fresh);
  });
});

describe('is new', () => {
  test.each([
    [
      'a compiler',
      times(50, (i) => `   Compiling crate_${'abcdefghijklmnopqrstuvwxyz'[i % 26]}${i > 25 ? 'x' : ''} v1.0.${i}`),
    ],
    ['per cent', times(50, (i) => `Downloading ${i} %`)],
    ['a bar', times(50, (i) => `[${'='.repeat(i)}>${' '.repeat(50 - i)}]`)],
    ['bytes', times(50, (i) => `\rfetched ${i}.5 MB, 3s left`)],
    ["curl's meter", times(50, (i) => ` 45 27.3M   45 ${i}.3M    0     0  1.2M      0  0:00:22`)],
    ['steps', times(50, (i) => `[${i}/1234] linking`)],
    ['tests', times(50, (i) => `ok ${i} - it does ${'abcdefghij'[i % 10]}${'klmno'[Math.floor(i / 10)]}`)],
  ])('%s', (_, lines) => expect(newOf(lines, 10)).toBe(10));

  test('dots on one line', () => {
    const text = new NewText();
    text.push('running ...');
    text.push('....');
    expect(text.fresh).toBe(2);
  });
});

test('what is told of a part stands for the rest of it', () => {
  const text = new NewText();
  text.push('a\n'.repeat(10), 100);
  expect(text).toMatchObject({ fresh: 1, repeated: 900 });
});

test('what it remembers is bounded', () => {
  const text = new NewText();
  const word = (i: number) => i.toString(2).replaceAll('0', 'a').replaceAll('1', 'b');
  for (let i = 0; i < 10_000; i += 1) text.push(`${word(i)}\n`);
  expect(text.fresh).toBe(10_000);
  text.push(`${word(0)}\n${word(9_999)}\n`);
  expect(text.fresh).toBe(10_001);
});
