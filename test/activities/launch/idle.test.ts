import { expect, test } from '@jest/globals';
import { IdleClock } from '../../../src/activities/launch/idle.ts';

const WINDOW = 1_000;
function last(signs: { news?: number; repeated?: number; cpuMs?: number | undefined }[], everyMs = 100) {
  const clock = new IdleClock(WINDOW, 0);
  return signs
    .map((sign, i) =>
      clock.sample({
        ...{ now: i * everyMs, news: sign.news ?? 0, repeated: sign.repeated ?? 0 },
        cpuMs: 'cpuMs' in sign ? sign.cpuMs : 0,
      }),
    )
    .at(-1);
}
const times = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i));

test('nothing new and no CPU for the window is quiet', () => {
  expect(last(times(11, () => ({})))).toBe('quiet');
  expect(last(times(10, () => ({})))).toBe('active');
});
test('a silent build that burns CPU is active', () => {
  expect(last(times(30, (i) => ({ cpuMs: i * 2 })))).toBe('active');
});
test('less than one percent of a core is idle', () => {
  expect(last(times(30, (i) => ({ cpuMs: i * 0.5 })))).toBe('quiet');
});
test('something new starts the window over', () => {
  expect(last(times(15, (i) => ({ news: i < 8 ? i : 8 })))).toBe('active');
  expect(last(times(19, (i) => ({ news: i < 8 ? i : 8 })))).toBe('quiet');
});
test('what only repeats itself is quiet, whatever the printing of it costs', () => {
  // One line a tick, by a shell; a spinner that takes 3 % of a core; a loop without a pause.
  expect(last(times(30, (i) => ({ repeated: i, cpuMs: i * 0.3 })))).toBe('quiet');
  expect(last(times(30, (i) => ({ repeated: i, cpuMs: i * 3 })))).toBe('quiet');
  expect(last(times(30, (i) => ({ repeated: i * 1e4, cpuMs: i * 200 })))).toBe('quiet');
});
test('a build that says "still building" now and then, and burns CPU, is active', () => {
  expect(last(times(30, (i) => ({ repeated: Math.floor(i / 5), cpuMs: i * 50 })))).toBe('active');
});
test('where CPU time cannot be told, nothing is shot', () => {
  expect(last(times(40, () => ({ cpuMs: undefined })))).toBe('active');
});
test('a file change starts the window over', () => {
  const clock = new IdleClock(WINDOW, 0);
  for (let now = 0; now <= 1_000; now += 100) clock.sample({ now, news: 0, repeated: 0, cpuMs: 0 });
  clock.stirred(1_000);
  expect(clock.sample({ now: 1_900, news: 0, repeated: 0, cpuMs: 0 })).toBe('active');
  expect(clock.sample({ now: 2_000, news: 0, repeated: 0, cpuMs: 0 })).toBe('quiet');
});
