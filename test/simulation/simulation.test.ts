import { afterEach, describe, expect, test } from '@jest/globals';
import { FAILURES } from '../../src/domain/failure.ts';
import './async-local-storage.ts';
import type { Mutation, Schedule } from './world.ts';

// Jest loads the workflow library while it links what is imported: by now its global scope is ready.
const { simulate } = await import('./world.ts');

const SEEDS = Number(process.env['SEEDS'] ?? 3_000);
const ONE = process.env['SEED'];

/** What a person needs to see it again. */
const report = ({ seed, violations, trace }: Schedule): string =>
  [
    `seed ${seed}: ${violations.join('\n  and ')}`,
    ...trace.slice(-120),
    `again: SEED=${seed} NODE_OPTIONS=--experimental-vm-modules npx jest test/simulation`,
  ].join('\n');

/** The first schedule of some that breaks a promise. */
async function firstBroken(seeds: Iterable<number>, mutation?: Mutation): Promise<Schedule | undefined> {
  for (const seed of seeds) {
    const schedule = await simulate(seed, mutation);
    if (schedule.violations.length > 0) return schedule;
  }
  return undefined;
}

function* upTo(last: number): Generator<number> {
  for (let seed = 1; seed <= last; seed++) yield seed;
}

if (ONE) {
  test(`the schedule of seed ${ONE}`, async () => {
    const schedule = await simulate(Number(ONE));
    console.log(schedule.trace.join('\n'));
    expect(schedule.violations).toEqual([]);
  });
} else {
  describe('the workflow and its policy', () => {
    test(`keep every promise in ${SEEDS} schedules of faults and people`, async () => {
      const broken = await firstBroken(upTo(SEEDS));
      if (broken) throw new Error(report(broken));
    }, 300_000);

    /** Schedules that once broke a promise. */
    const REGRESSIONS: [number, string][] = [
      [1, 'a task that is cancelled while its worker is lost ends as cancelled'],
      [28, 'a late result that was rejected leaves the task queued'],
      [170, 'a late result that cannot be delivered parks the task'],
      [394, 'a task whose model stays at its limit waits for a person in the end, though its view keeps fewer runs'],
      [1609, 'attempts that its view does not keep any more are counted'],
    ];
    test.each(REGRESSIONS)('seed %i: %s', async (seed) => {
      expect((await simulate(seed)).violations).toEqual([]);
    });

    test('the same seed makes the same schedule', async () => {
      const [once, again] = [await simulate(5), await simulate(5)];
      expect(again).toEqual(once);
      expect(once.trace).not.toEqual((await simulate(6)).trace);
    });
  });

  describe('the checker sees', () => {
    const MUTATIONS: [Mutation, RegExp][] = [
      ['no-grace', /has 2 live agents/],
      ['no-self-kill', /has 2 live agents/],
      ['stale-launch', /has 2 live agents/],
      ['overwrite', /was delivered 2 times/],
      ['forget-to-tell', /is parked .* and nobody was told/],
    ];
    test.each(MUTATIONS)('the planted defect %s', async (mutation, expected) => {
      const broken = await firstBroken(upTo(4_000), mutation);
      expect(broken?.violations.join('\n')).toMatch(expected);
    });

    const hostLost: { attempt: boolean } = FAILURES['host-lost'];
    afterEach(() => {
      hostLost.attempt = false;
    });
    test('an attempt spent on a lost worker', async () => {
      hostLost.attempt = true;
      const broken = await firstBroken(upTo(200));
      expect(broken?.violations.join('\n')).toMatch(/used up an attempt by host-lost/);
    });
  });
}
