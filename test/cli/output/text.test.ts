import { describe, expect, test } from '@jest/globals';
import { table } from '../../../src/cli/output/table.ts';
import { clean, oneLine, painter, shortNumber, toJson } from '../../../src/cli/output/text.ts';

describe('text for terminals', () => {
  test.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007x', 'x'],
    ['\u001b]8;;http://evil\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['a\rb\u0000\u0007\u007f\u009b2Jc', 'abc'],
    ['safe\u202egpj.exe', 'safegpj.exe'],
    ['a\u200bb\ufeff\u2066c', 'abc'],
    ['tag\u{e0041}', 'tag'],
    ['tab\tand\r\nline', 'tab\tand\nline'],
    ['✓ naïve 日本', '✓ naïve 日本'],
  ])('%j is shown as %j', (said, shown) => expect(clean(said)).toBe(shown));

  test('one line is cut by characters', () => {
    expect(oneLine(' a\n b\t c ')).toBe('a b c');
    expect(oneLine('日本語テキスト', 4)).toBe('日本語…');
    expect(oneLine('👩👩👩', 2)).toBe('👩…');
  });

  test('JSON carries everything and moves no cursor', () => {
    const value = { a: 'x\u009b2J\u202e\u{e0041}\u001b[0m', b: ['日本'] };
    expect(toJson(value)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u{e0041}]/u);
    expect(JSON.parse(toJson(value))).toEqual(value);
  });

  test('colours only on a terminal without NO_COLOR', () => {
    expect(painter({ tty: false, env: {} })('red', 'x')).toBe('x');
    expect(painter({ tty: true, env: { NO_COLOR: '1' } })('red', 'x')).toBe('x');
  });

  test.each([
    [0, '0'],
    [999, '999'],
    [1_234, '1.2k'],
    [999_960, '1.0M'],
    [4_100_000, '4.1M'],
  ])('%d is %s', (value, shown) => expect(shortNumber(value)).toBe(shown));
});

test('a table has no borders, and no columns that say nothing', () => {
  const drawn = table(
    ['id', 'none', 'state'],
    [
      ['a', '', 'done'],
      ['long-id', '', 'x'],
    ],
  );
  expect(drawn).toBe('ID       STATE\na        done\nlong-id  x');
});
