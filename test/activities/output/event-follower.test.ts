import { appendFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { Follower, readEvents } from '../../../src/activities/output/event-follower.ts';
import { createCoders } from '../../../src/coders/registry.ts';
import { tempDir } from '../../helpers/temp.ts';

const coder = createCoders({ mine: { command: ['x'], protocol: 'claude' } }).get('mine')!;
const line = (event: object) => `${JSON.stringify(event)}\n`;
const text = (id: number, words: string) =>
  line({
    type: 'assistant',
    message: { id: `m${id}`, content: [{ type: 'text', text: words }], usage: { input_tokens: 1 } },
  });
const END = line({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'done',
  usage: { input_tokens: 5, output_tokens: 2 },
});

async function files(dir: string) {
  const at = { dir, events: `${dir}/events.jsonl`, logs: `${dir}/logs` };
  await mkdir(at.logs, { recursive: true });
  return at;
}

test('a flood of events is cut, and its end and usage are still known', async () => {
  await using temp = await tempDir();
  const at = await files(temp.path);
  const words = 'w'.repeat(3_500);
  const flood = Array.from({ length: 6_000 }, (_, i) => text(i, words)).join('');
  await writeFile(`${at.logs}/stdout.000000000000`, flood + END);
  const follower = await Follower.open(at, coder);
  await follower.drain(false);
  expect(follower.read).toBeLessThan(flood.length);
  await follower.drain(true);
  expect(follower.ended).toMatchObject({ ok: true, text: 'done' });
  expect((await stat(at.events)).size).toBeLessThan(20_000_000);
});

test('a restarted follower goes on where the events end, also behind a line that a crash cut short', async () => {
  await using temp = await tempDir();
  const at = await files(temp.path);
  const log = `${at.logs}/stdout.000000000000`;
  await writeFile(log, text(1, 'one') + text(2, 'two'));
  const first = await Follower.open(at, coder);
  await first.drain(false);
  const whole = await readFile(at.events, 'utf8');
  await appendFile(at.events, '{"type":"text","te');
  await appendFile(log, END);
  const second = await Follower.open(at, coder);
  expect(await readFile(at.events, 'utf8')).toBe(whole);
  await second.drain(true);
  const events = await readEvents(at.events);
  expect(events.filter(({ type }) => type === 'text')).toHaveLength(2);
  expect(second.ended?.ok).toBe(true);
});

test("a CLI's own heartbeat is no sign of work", async () => {
  await using temp = await tempDir();
  const at = await files(temp.path);
  const log = `${at.logs}/stdout.000000000000`;
  await writeFile(log, text(1, 'one'));
  const follower = await Follower.open(at, coder);
  await follower.drain(false);
  const { steps, lastAt } = follower;
  await appendFile(log, line({ type: 'tool_progress', tool_use_id: 't', elapsed_time_seconds: 30, heartbeat: true }));
  await follower.drain(false);
  expect(follower.steps).toBe(steps);
  expect(follower.lastAt).toBe(lastAt);
});
