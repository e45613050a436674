import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import type { Fleet, RunPlace } from '../../../src/client.ts';
import { readPieces } from '../../../src/cli/input/read-file.ts';

const run = {} as RunPlace;
const LONG = 'x'.repeat(64 * 1024);

test('a long log leaves nothing at the signal that ends its reading, and ends with it', async () => {
  const over = new AbortController();
  const { signal } = over;
  let asked = 0;
  const readRun = async () => ({ text: LONG, next: (asked += 1), end: false, gap: 0 });
  const fleet = { readRun } as unknown as Fleet;
  let most = 0;
  for await (const _ of readPieces(fleet, { run, file: 'log', follow: true, signal })) {
    most = Math.max(most, getEventListeners(signal, 'abort').length);
    if (asked === 30) over.abort();
  }
  expect([asked, most]).toEqual([30, 0]);
});

test('a reader that is told to end does not wait for the answer that is under way', async () => {
  const over = new AbortController();
  const fleet = { readRun: () => new Promise(() => setImmediate(() => over.abort())) } as unknown as Fleet;
  const pieces: unknown[] = [];
  for await (const piece of readPieces(fleet, { run, file: 'log', follow: true, signal: over.signal }))
    pieces.push(piece);
  expect(pieces).toEqual([]);
});
