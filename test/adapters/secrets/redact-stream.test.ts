import { expect, test } from '@jest/globals';
import { RedactStream } from '../../../src/adapters/secrets/redact-stream.ts';

const SECRETS = { NPM_TOKEN: 'aab-aac-0123456789', OTHER: 'aab-aaz-999' };

function through(chunks: readonly string[]) {
  const out: string[] = [];
  const stream = new RedactStream(SECRETS, (bytes) => out.push(bytes.toString()));
  const room = Buffer.alloc(1_000);
  for (const chunk of chunks) {
    // As a pipe's reader hands it on: the same buffer again and again.
    const length = room.write(chunk);
    stream.write(room.subarray(0, length));
    room.fill('?');
  }
  const before = out.join('');
  stream.end();
  return { before, text: out.join(''), count: stream.count };
}

test('a secret that comes in pieces is masked, wherever it is cut', () => {
  const text = `x aaab-aac-0123456789 y ${Buffer.from(`:${SECRETS.NPM_TOKEN}`).toString('base64')}\n`;
  for (let first = 0; first <= text.length; first += 1)
    for (const second of [first, first + 1, first + 7]) {
      const { text: out, count } = through([text.slice(0, first), text.slice(first, second), text.slice(second)]);
      expect(out).toHaveLength(text.length);
      expect(out).toMatch(/^x a\[NPM_TOKEN\]\*{7} y /);
      expect(count).toBe(2);
    }
  expect(through(text.split('')).text).toMatch(/^x a\[NPM_TOKEN\]\*{7} y /);
});

test('what only begins like one waits, and comes in the end', () => {
  expect(through(['say aab-aa'])).toEqual({ before: 'say ', text: 'say aab-aa', count: 0 });
  expect(through(['say aab-aac-01', 'x!'])).toEqual({ before: 'say aab-aac-01x!', text: 'say aab-aac-01x!', count: 0 });
});

test('bytes that are no text stay as they are', () => {
  const out: Buffer[] = [];
  const stream = new RedactStream(SECRETS, (bytes) => out.push(Buffer.from(bytes)));
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x61, 0x80]);
  stream.write(bytes);
  stream.end();
  expect(Buffer.concat(out)).toEqual(bytes);
});
