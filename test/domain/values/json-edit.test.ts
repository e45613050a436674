import { expect, test } from '@jest/globals';
import { memberKeys, setMembers } from '../../../src/domain/values/json-edit.ts';

test.each([
  ['in place', '{\n  "a": 1,\n  "b": "x"\n}\n', { a: 2 }, '{\n  "a": 2,\n  "b": "x"\n}\n'],
  ['after the last', '{\n  "a": 1\n}\n', { b: 'x' }, '{\n  "a": 1,\n  "b": "x"\n}\n'],
  ['both', '{\n\t"a": 1,\n\t"z": [1,2]\n}', { z: 0, y: null }, '{\n\t"a": 1,\n\t"z": 0,\n\t"y": null\n}'],
  ['on one line', '{"a":1, "b" : {"c":"}"}}', { b: 2, d: [1] }, '{"a":1, "b" : 2, "d": [1]}'],
  [
    'an object, as deep as it stands',
    '{\n  "a": 1\n}',
    { a: { b: [1] } },
    '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}',
  ],
  [
    'with Windows line ends',
    '{\r\n  "a": 1\r\n}\r\n',
    { b: { c: 1 } },
    '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 1\r\n  }\r\n}\r\n',
  ],
  ['into an empty object', '{}', { a: 1, b: 2 }, '{"a": 1, "b": 2}'],
  ['into an empty object with blanks', '{\n}\n', { a: 1 }, '{"a": 1\n}\n'],
  [
    'beside what JavaScript would round',
    '{"n": 12345678901234567890, "e": 1.50e+3}',
    { a: 1 },
    '{"n": 12345678901234567890, "e": 1.50e+3, "a": 1}',
  ],
  [
    'with quotes and brackets in keys and strings',
    '{"a\\"}": "{\\\\", "b": "\\"]"}',
    { b: 1 },
    '{"a\\"}": "{\\\\", "b": 1}',
  ],
  ['with an escaped key', '{"\\u0061": 1}', { a: 2 }, '{"\\u0061": 2}'],
  ['after a mark of the byte order', '\uFEFF{"a": 1}', { a: 2 }, '\uFEFF{"a": 2}'],
  ['with nothing to set', '{ "a" : 1 }', {}, '{ "a" : 1 }'],
])('sets members %s', (_, before, values, after) => {
  expect(setMembers(before, values)).toBe(after);
  expect(JSON.parse(after.replace('\uFEFF', ''))).toMatchObject(values);
});

test('gives keys as often as they stand there', () => {
  expect(memberKeys('{"a": {"x": 1}, "b": [{"y": 2}], "\\u0061": 3}')).toEqual(['a', 'b', 'a']);
});

test('writes the same again for the same values', () => {
  const once = setMembers('{\n  "a": 1\n}', { result: { summary: 'x', list: [1, { y: null }] }, b: 'é\n"' });
  expect(setMembers(once, { result: { summary: 'x', list: [1, { y: null }] }, b: 'é\n"' })).toBe(once);
});
