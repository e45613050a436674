import { expect, test } from '@jest/globals';
import { LineReader } from '../../../src/adapters/program/line-reader.ts';

const text = 'one\nzwö\n{"three":3}\n\nlast';

test('gives the same lines and offsets however the bytes are cut', () => {
  const whole = new LineReader();
  const expected = [...whole.push(Buffer.from(text)), ...whole.flush()];
  expect(expected.map(({ line }) => line)).toEqual(['one', 'zwö', '{"three":3}', '', 'last']);
  const bytes = Buffer.from(text);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const reader = new LineReader();
    expect([...reader.push(bytes.subarray(0, cut)), ...reader.push(bytes.subarray(cut)), ...reader.flush()]).toEqual(
      expected,
    );
  }
});

test('a reader that starts at an offset goes on with the very next line', () => {
  const bytes = Buffer.from(text);
  const first = new LineReader().push(bytes)[1];
  const reader = new LineReader(first?.offset);
  expect(reader.push(bytes.subarray(first?.offset))[0]?.line).toBe('{"three":3}');
});

test('a line without end is dropped, and the next one is whole', () => {
  const reader = new LineReader();
  for (let i = 0; i < 40; i += 1) expect(reader.push(Buffer.alloc(100_000, 'x'))).toEqual([]);
  const [next, ...more] = reader.push(Buffer.from('tail\nnext\n'));
  expect(next?.line).toBe('next');
  expect(more).toEqual([]);
  expect(next?.offset).toBe(4_000_000 + 10);
});

test('a gap ends the line that was under way', () => {
  const reader = new LineReader();
  reader.push(Buffer.from('begun'));
  expect(reader.push(Buffer.from('rest\nwhole\n'), 100)).toEqual([{ line: 'whole', offset: 5 + 100 + 11 }]);
});
