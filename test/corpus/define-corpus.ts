import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Families } from './families.ts';
import { Corpus } from './run-corpus.ts';
import { summary, type Row } from './summary.ts';

/** One test a case, and at the end what was accepted and rejected wrongly. */
export function defineCorpus({ cheats, honest }: Families): void {
  let corpus: Corpus | undefined;
  const rows: Row[] = [];
  beforeAll(async () => (corpus = await Corpus.start([...cheats, ...honest])), 180_000);
  afterAll(async () => {
    process.stdout.write(summary(rows));
    await corpus?.[Symbol.asyncDispose]();
  }, 120_000);

  const all = [
    ...cheats.map((each) => ({ kind: 'cheat', each }) as const),
    ...honest.map((each) => ({ kind: 'honest', each }) as const),
  ];
  test.each(all.map(({ kind, each }) => [kind, each.name, each] as const))(
    '%s: %s',
    async (kind, _, each) => {
      if (!corpus) throw new Error('it never started');
      if (corpus.skipped.includes(each)) return;
      const outcome = await corpus.outcome(each);
      rows.push({ case: each, kind, ...outcome });
      if (each.getsThrough) expect(outcome.wrong ?? 'is seen now: remove its mark `getsThrough`').toBe(outcome.wrong);
      else expect(outcome.wrong).toBeUndefined();
    },
    1_800_000,
  );
}
