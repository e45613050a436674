import { expect, test } from '@jest/globals';
import { IdleClock } from '../../src/activities/idle.ts';

const WINDOW = 1_000;
function last(signs: { bytes?: number; cpuMs?: number | undefined }[], everyMs = 100) {
  const clock = new IdleClock(WINDOW, 0);
  return signs
    .map((sign, i) =>
      clock.sample({ now: i * everyMs, bytes: sign.bytes ?? 0, cpuMs: 'cpuMs' in sign ? sign.cpuMs : 0 }),
    )
    .at(-1);
}
const times = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i));

test('no output and no CPU for the window is quiet', () => {
  expect(last(times(11, () => ({})))).toBe('quiet');
  expect(last(times(10, () => ({})))).toBe('active');
});
test('a silent build that burns CPU is active', () => {
  expect(last(times(30, (i) => ({ cpuMs: i * 2 })))).toBe('active');
});
test('less than one percent of a core is idle', () => {
  expect(last(times(30, (i) => ({ cpuMs: i * 0.5 })))).toBe('quiet');
});
test('output starts the window over', () => {
  expect(last(times(15, (i) => ({ bytes: i < 8 ? i : 8 })))).toBe('active');
  expect(last(times(19, (i) => ({ bytes: i < 8 ? i : 8 })))).toBe('quiet');
});
test('where CPU time cannot be told, nothing is shot', () => {
  expect(last(times(40, () => ({ cpuMs: undefined })))).toBe('active');
});
test('a file change starts the window over', () => {
  const clock = new IdleClock(WINDOW, 0);
  for (let now = 0; now <= 1_000; now += 100) clock.sample({ now, bytes: 0, cpuMs: 0 });
  clock.stirred(1_000);
  expect(clock.sample({ now: 1_900, bytes: 0, cpuMs: 0 })).toBe('active');
  expect(clock.sample({ now: 2_000, bytes: 0, cpuMs: 0 })).toBe('quiet');
});
