import { expect, test } from '@jest/globals';
import { cpuMsOf } from '../../helpers/cpu.ts';
import { withoutKeys } from '../../../src/domain/secrets/redact-keys.ts';
import {
  givenBack,
  gone,
  leased,
  mended,
  named,
  newCredential,
  reaches,
  refusalOf,
  reported,
  seatsOf,
  type CredentialRecord,
  type SeatHolder,
} from '../../../src/domain/scheduling/seats.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();
const holder = (worker: string, part: Partial<SeatHolder> = {}): SeatHolder => ({
  ...{ worker, machine: `${worker}-m`, hostQueue: `host/${worker}`, queues: ['fleet'], since: at(0) },
  ...{ seats: 2, softCeiling: 0.9, how: 'envFile', leaseMs: 1_000, ...part },
});
const ref = (n: number) => ({ taskId: 't', runId: `${n}-a` });
const seat = (n: number, worker = 'ada') => ({ ...ref(n), worker, hostQueue: `host/${worker}`, since: at(n) });
const start = (...holders: SeatHolder[]): CredentialRecord =>
  holders.reduce((record, one) => named(record, { holder: one, runs: [], now: at(0) }), newCredential('key', 'claude'));
const limited = (record: CredentialRecord, n: number, { until, now = 0 }: { until?: string; now?: number } = {}) =>
  reported(record, { ...ref(n), kind: 'limited', why: 'limit', ...(until ? { until } : {}) }, NOW + now * 60_000);

test('the smallest number of seats counts, and a run has one seat however often it asks', () => {
  const record = start(holder('ada', { seats: 3 }), holder('eve'));
  expect(seatsOf(record)).toBe(2);
  const full = [1, 1, 2].reduce((all, n) => leased(all, seat(n)), record);
  expect(full.seats).toHaveLength(2);
  expect(refusalOf(full, NOW)).toEqual({ full: true, why: '2 of 2 seats of credential key are taken' });
  expect(seatsOf(gone(full, 'host/eve'))).toBe(3);
  expect(refusalOf(newCredential('key', 'claude'), NOW)).toMatchObject({ full: true });
});

test('a lost worker loses its seats and no other; one that comes back anew keeps what it holds', () => {
  const record = [seat(1), seat(2), seat(3, 'eve')].reduce(leased, start(holder('ada', { seats: 9 }), holder('eve')));
  expect(gone(record, 'host/ada').seats).toEqual([seat(3, 'eve')]);
  const again = named(record, { holder: holder('ada', { since: at(5) }), runs: [ref(2), ref(4)], now: at(5) });
  expect(again.seats.map(({ runId }) => runId).toSorted()).toEqual(['2-a', '3-a', '4-a']);
  // The same process says so once more, as its state did not hear it: a seat just taken stays.
  expect(named(record, { holder: holder('ada'), runs: [ref(1)], now: at(5) }).seats).toEqual(record.seats);
});

test('a limit rests until its reset, once for each run; without one longer each time, until a run meets none', () => {
  const record = [1, 2, 3].reduce((all, n) => leased(all, seat(n)), start(holder('ada', { seats: 3 })));
  const resting = limited(record, 1, { until: at(60) });
  expect(resting.resting).toEqual({ until: at(60), why: 'limit' });
  expect(limited(resting, 1, { until: at(90) })).toBe(resting);
  // Another run beside it says the same: that is one limit.
  expect(limited(resting, 2, { until: at(30) })).toMatchObject({ limits: 1, resting: { until: at(60) } });
  expect(refusalOf(resting, NOW)).toEqual({ why: `credential key rests until ${at(60)} (limit)`, until: at(60) });
  expect(refusalOf(givenBack(resting, { runId: '1-a', tokens: 0, nowMs: NOW }), NOW + 61 * 60_000)).toBeUndefined();
  let unknown = record;
  const pauses = [4, 5, 6, 7, 8, 9, 10].map((n, i) => {
    unknown = limited(unknown, n, { now: i * 100 });
    return (Date.parse(unknown.resting!.until) - NOW) / 60_000 - i * 100;
  });
  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
  // It keeps naming a time that is near.
  expect(limited(unknown, 11, { now: 900, until: at(900.1) }).resting?.until).toBe(at(930));
  expect(givenBack(unknown, { runId: '2-a', tokens: 5, nowMs: NOW }).limits).toBe(0);
  expect(limited(record, 12, { until: at(1e6) }).resting?.until).toBe(at(8 * 24 * 60));
});

test('a refusal ends its use until a person says otherwise; what began before that counts no more', () => {
  const record = [1, 2].reduce((all, n) => leased(all, seat(n)), start(holder('ada', { seats: 3 })));
  const refuse = (from: CredentialRecord, n: number) => reported(from, { ...ref(n), kind: 'refused', why: '401' }, NOW);
  const bad = refuse(record, 1);
  expect(bad.bad).toEqual({ why: '401', at: at(0) });
  expect(refusalOf(bad, NOW)?.until).toBeUndefined();
  const ok = mended(bad, at(30));
  expect(refusalOf(ok, NOW)).toBeUndefined();
  expect(refuse(ok, 2).bad).toBeNull();
  expect(refuse(leased(ok, seat(40)), 40).bad).not.toBeNull();
});

test('beyond the soft ceiling it takes no new run, until the window is reset', () => {
  const used = (part: number) =>
    reported(
      start(holder('ada'), holder('eve', { softCeiling: 0.8 })),
      { ...ref(1), kind: 'used', why: '', part, until: at(60) },
      NOW,
    );
  expect(refusalOf(used(0.79), NOW)).toBeUndefined();
  expect(refusalOf(used(0.8), NOW)).toEqual({
    until: at(60),
    why: `credential key takes no new run until ${at(60)}: 80 % of its window is used, the soft ceiling is 80 %`,
  });
  expect(refusalOf(used(0.8), NOW + 61 * 60_000)).toBeUndefined();
});

test('tokens are counted by window', () => {
  const record = [1, 2, 3].reduce((all, n) => leased(all, seat(n)), start(holder('ada', { seats: 3 })));
  const back = (from: CredentialRecord, n: number, minutes: number) =>
    givenBack(from, { runId: `${n}-a`, tokens: 100, nowMs: NOW + minutes * 60_000 });
  const two = back(back(record, 1, 0), 2, 10);
  expect(two.window).toEqual({ since: at(0), until: at(300), tokens: 200 });
  expect(back(two, 2, 20)).toBe(two);
  expect(back(two, 3, 301).window).toEqual({ since: at(301), until: at(601), tokens: 100 });
});

test('another credential is one for a task where a worker that can claim it has it', () => {
  const record = start(holder('ada', { queues: ['nightly'] }));
  expect(reaches(record, { queue: 'nightly', machine: undefined })).toBe(true);
  expect(reaches(record, { queue: 'nightly', machine: 'eve-m' })).toBe(false);
  expect(reaches(record, { queue: 'fleet', machine: undefined })).toBe(false);
});

test('keys that a vendor repeats are left out', () => {
  expect(withoutKeys('Incorrect API key provided: sk-ant-api03-abcdefghijklmnop.')).toBe(
    'Incorrect API key provided: sk-…',
  );
  expect(withoutKeys('run 1-08c7f560 of task-in-progress-today was refused')).toBe(
    'run 1-08c7f560 of task-in-progress-today was refused',
  );
});

test.each([
  ["curl -H 'Authorization: Bearer abcdefgh1234567890' https://x", "curl -H 'Authorization: Bearer …' https://x"],
  ['curl -H "authorization: Basic dXNlcjpwYXNz" x', 'curl -H "authorization: Basic …" x'],
  ['it is ghp_abcdefgh12345678 now', 'it is ghp_… now'],
  ['keyboard-shortcuts.md, session-handling.ts and skeleton-components are done', undefined],
  ['sk-learn-is-a-library', undefined],
])('%s', (text, left = text) => expect(withoutKeys(text)).toBe(left));

test('a text that is made to stall it does not', async () => {
  const text = 'sk-'.repeat(400_000) + 'Bearer '.repeat(200_000);
  expect(await cpuMsOf(() => withoutKeys(text))).toBeLessThan(2_000);
});
