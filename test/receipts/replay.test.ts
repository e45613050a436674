import { describe, expect, test } from '@jest/globals';
import { verdictOf, type Found } from '../../src/domain/evidence/receipt.ts';
import { differences, type Decision, type Replayed } from '../../src/domain/worker/second-verdict.ts';
import { digestOf } from '../../src/receipts/canonical.ts';
import { decisionOf, replayFinding, compareReplay } from '../../src/receipts/replay.ts';
import { contextOf, sealBundle } from '../../src/receipts/bundle/seal.ts';
import { verifyBundle } from '../../src/receipts/bundle/verify-bundle.ts';
import { AT, newSigner, NOW, seal } from '../helpers/bundles.ts';
import { evidenceOf } from './evidence.ts';

const { policy } = evidenceOf({ task: { verify: { commands: ['npm test'], where: 'other' } } });
const step = { command: 'npm test', exitCode: 0, timedOut: false, durationMs: 12, signal: null };
const acceptance = (over: Record<string, unknown> = {}, ok = true): Found => ({
  ...{ kind: 'acceptance', ok, summary: 'said', evidence: { steps: [step], testsDigest: 'a', attempts: 1, ...over } },
});
const decide = (found: Found[], tree = 'tree') => decisionOf({ tree, policy }, found);

describe('what two verifications have to agree on', () => {
  const first = decide([acceptance()]);
  test('how long it took, how often it was tried and what was printed is not part of it', () => {
    const other = acceptance({ steps: [{ ...step, durationMs: 99 }], attempts: 2, restored: ['x'] });
    expect(digestOf(decide([other]))).toBe(digestOf(first));
  });
  test.each<[string, Decision, string]>([
    ['another tree', decide([acceptance()], 'other'), 'the tree was tree here and other there'],
    ['another outcome', decide([acceptance({}, false)]), 'acceptance was ok here and not ok there'],
    [
      'another exit code',
      decide([acceptance({ steps: [{ ...step, exitCode: 2 }] })]),
      '`npm test` ended with 0 here and ended with 2 there',
    ],
    ['a command less', decide([acceptance({ steps: [] })]), '`npm test` ended with 0 here and was not run there'],
    [
      'other named tests',
      decide([acceptance({ testsDigest: 'b' })]),
      'the named tests that ran, or how they ended, were not the same',
    ],
    [
      'held-out checks',
      decide([
        acceptance(),
        { kind: 'held-out', ok: true, summary: 's', evidence: { checks: [{ sha256: 'SECRET' }] } },
      ]),
      'the checks that the agent cannot see came out differently',
    ],
    [
      'other commands',
      decisionOf({ tree: 'tree', policy: { ...policy, verify: ['true'] } }, [acceptance()]),
      'they checked different things',
    ],
  ])('%s', (_name, second, sentence) => {
    expect(differences(first, second)).toContain(sentence);
    expect(digestOf(second)).not.toBe(digestOf(first));
    expect(
      JSON.stringify(replayFinding(first, { decision: second, worker: { name: 'b', machine: 'm' } })),
    ).not.toContain('SECRET');
  });
});

describe('the answer of a second worker', () => {
  const [ada, eve] = [newSigner('ada'), newSigner('eve')];
  const trust = { trusted: [ada.trusted, eve.trusted], now: NOW };
  const shown: Found = { kind: 'control', ok: true, summary: 's', evidence: {} };
  const decision = decide([acceptance(), shown]);
  const { text } = seal({ signer: ada, run: { where: 'other' } });
  const first = { text, decision, task: 't1', runId: '2-abcd' };
  const worker = { name: 'eve', machine: 'e', version: '1' };
  const answer = (found: Found[] = [acceptance(), shown], over: Partial<Replayed> = {}, signer = eve): Replayed => {
    const own = decide(found);
    const findings: Found[] = [...found, { kind: 'replay', ...replayFinding(decision, { decision: own, worker }) }];
    const context = contextOf(text, { worker, at: AT });
    const sealed = sealBundle({ findings, verdict: verdictOf(findings), context, signer, previous: text });
    return {
      ...{ worker: 'eve', machine: 'e', decision: own, digest: digestOf(own), lines: sealed.text.slice(text.length) },
      ...{ receipt: sealed.receipts.at(-1)!, verdict: sealed.verdict.digest, ...over },
    };
  };

  test('the same verdict: one bundle of both, which holds for anybody', () => {
    const settled = compareReplay(first, answer(), trust);
    expect(settled).toMatchObject({ ok: true });
    expect(verifyBundle(settled.text!, trust)).toMatchObject({ ok: true, accepted: true });
    // Once more, after a crash.
    expect(compareReplay({ ...first, text: settled.text! }, answer(), trust)).toEqual(settled);
  });

  test('another verdict: both are kept, and the bundle says so', () => {
    const settled = compareReplay(first, answer([acceptance({}, false)]), trust);
    expect(settled).toMatchObject({ ok: false, why: expect.stringContaining('nobody knows which is wrong') });
    expect(verifyBundle(settled.text!, trust)).toMatchObject({ ok: false, problem: 'disagreement' });
  });

  const other = decide([acceptance()], 'forged');
  test.each<[string, () => Replayed]>([
    ['a forged digest', () => answer(undefined, { digest: 'f'.repeat(64) })],
    ['another decision than it says', () => answer(undefined, { decision: other, digest: digestOf(other) })],
    ['a receipt that it has not signed', () => answer([acceptance({}, false)], { receipt: answer().receipt })],
    ['a verdict that it has not signed', () => answer(undefined, { verdict: 'f'.repeat(64) })],
    ['a key that its record does not have', () => answer(undefined, {}, newSigner('mallory'))],
    ['the key of the first worker', () => answer(undefined, {}, ada)],
    ['no lines', () => answer(undefined, { lines: '' })],
    ['lines of nothing', () => answer(undefined, { lines: 'x\n' })],
    ['the lines twice', () => answer(undefined, { lines: answer().lines + answer().lines })],
  ])('%s: not accepted, and nothing of it is kept', (_name, forged) => {
    expect(compareReplay(first, forged(), trust)).toMatchObject({
      ...{ ok: false, text: null, why: expect.stringMatching(/^the answer of worker eve does not hold: /) },
    });
  });
});
