import type { Finding } from '../../domain/evidence/receipt.ts';
import { counted, named, sample } from '../bounded.ts';
import type { Judged } from './answers.ts';
import type { HeldOutChallenge } from './held-out.ts';
import type { Turnable } from './turnable.ts';

/** Why nothing was turned. */
export type NotPossible = 'no-known-runner' | 'nothing-to-turn' | 'not-readable' | 'no-time';

/** What came of the base's own tests. */
export type Challenged = Judged | { notPossible: NotPossible };

/** The result does not come from what the tests check. */
export const rejects = (own: Challenged): boolean =>
  'fooled' in own && (own.fooled.length > 0 || own.wrong === 'silenced');

/** The receipt on the base's own tests and on checks that the agent cannot see. */
export function findingOf(own: Challenged | undefined, unseen: HeldOutChallenge | undefined): Finding {
  const wrong = [own && wrongOf(own), unseen && unseen.passed > 0 && HELD_OUT_WRONG].filter(
    (one) => typeof one === 'string',
  );
  const all = [own && said(own), unseen && heldOutSaid(unseen)].filter((one) => typeof one === 'string');
  const evidence = {
    ...(own && toldOf(own)),
    ...(unseen ? { heldOut: unseen } : {}),
  };
  if (wrong.length > 0) return { ok: false, summary: wrong.join('; '), evidence };
  const unclear = own && 'wrong' in own && (own.wrong === 'all-weak' || own.wrong === 'all-failed');
  return { ok: true, ...(unclear ? { shows: false } : {}), summary: all.join('; '), evidence };
}

const HELD_OUT_WRONG =
  'a check that the agent cannot see passed although its expectations were turned wrong: its result does not come from what it checks';

function wrongOf(own: Challenged): string | undefined {
  if (!('fooled' in own)) return undefined;
  const names = own.fooled.map(({ name }) => `"${name}"`);
  if (names.length === 1)
    return `the test ${names[0]} passed although its expectation was turned wrong: its result does not come from what it checks`;
  if (names.length > 1)
    return `${names.length} tests passed although their expectations were turned wrong: their results do not come from what they check (${named(names, 5)})`;
  return own.wrong === 'silenced'
    ? 'no test answered: the commands ended with 0, and of the tests that were turned wrong none was reported'
    : undefined;
}

const WHY_NOT: Record<NotPossible, string> = {
  'no-known-runner': 'no known test runner ran',
  'nothing-to-turn': 'no expectation of the base’s tests is of a kind that is known',
  'not-readable': 'no parser reads the tests',
  'no-time': 'no time was left',
};

function said(own: Challenged): string {
  if ('notPossible' in own) return `no test was turned wrong: ${WHY_NOT[own.notPossible]}`;
  const { wrong, turned, answered, weak, silent, disturbed } = own;
  if (wrong === 'no-answer')
    return `could not tell: ${counted(turned, 'test')} turned wrong, and none was reported as failed`;
  if (wrong === 'all-weak') return `could not tell: all ${turned} tests that were turned wrong passed, and may do so`;
  if (wrong === 'all-failed') return 'could not tell: every test failed, also those that were not turned wrong';
  return [
    `${answered} of ${counted(turned, 'test')} failed once turned wrong`,
    weak.length > 0 ? `${named(weak.map(({ name }) => `"${name}"`))} passed nevertheless, and may be weak` : undefined,
    silent > 0 ? `${counted(silent, 'test')} did not answer` : undefined,
    disturbed > 0 ? `${counted(disturbed, 'other test')} failed beside them` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join('; ');
}

function heldOutSaid({ turned, notPossible }: HeldOutChallenge): string | undefined {
  if (notPossible) return undefined;
  return `${counted(turned, 'test')} of held-out checks failed once turned wrong`;
}

function toldOf(own: Challenged): Record<string, unknown> {
  if ('notPossible' in own) return own;
  const { fooled, weak, turned, answered, silent, disturbed, wrong } = own;
  const names = (all: readonly Turnable[]) => sample(all.map(({ name }) => name));
  return {
    ...{ turned, answered, silent, disturbed },
    ...(fooled.length > 0 ? { fooled: names(fooled), fooledCount: fooled.length } : {}),
    ...(weak.length > 0 ? { weak: names(weak), weakCount: weak.length } : {}),
    ...(wrong ? { couldNotTell: wrong } : {}),
  };
}
