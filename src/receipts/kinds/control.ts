import { matches } from '../../adapters/glob.ts';
import { layPaths } from '../../adapters/git/worktree/checkout.ts';
import { notPassed } from '../../domain/evidence/test-results.ts';
import type { ReceiptCollector, Tried } from '../../ports.ts';
import { baseTrial, outcomeOf, type Outcome } from '../trial/base-trial.ts';
import { counted, named, sample } from '../bounded.ts';
import { testGlobs } from '../../domain/repository/protected-paths.ts';
import { tryCommit } from '../trial/trial.ts';

/**
 * Whether the acceptance proves anything: what must pass now fails on the base, and on the base with the agent's tests, that
 * is on its result without the rest of what it changed.
 */
export const control: ReceiptCollector<Tried> = {
  kind: 'control',
  async collect(evidence) {
    const { policy, result } = evidence;
    if (!policy.checks.control || policy.verify.length === 0) return undefined;
    const isTest = matches(testGlobs(policy.restore));
    const tests = result.changes.map(({ path }) => path).filter(isTest);
    const base = await baseTrial(evidence);
    const reverted = tests.length > 0 ? await revertedTrial(evidence, tests) : base;
    if (!base.setUp || !reverted.setUp)
      return { ok: false, summary: 'the setup commands fail without the change: nothing can be shown', evidence: {} };
    const proof = [
      { where: 'on the base', ...proves(evidence, base) },
      { where: "on the base with the agent's tests", ...proves(evidence, reverted) },
    ];
    const hollow = proof.find(({ ok }) => !ok);
    return {
      ok: !hollow,
      summary: hollow
        ? `${hollow.what} also ${hollow.where}, without the change: it proves nothing`
        : `${proof[0]!.what} on the base${tests.length > 0 ? ", also with the agent's tests" : ''}`,
      evidence: {
        base: proof[0]!.ok ? 'FAILED' : 'PASSED',
        reverted: proof[1]!.ok ? 'FAILED' : 'PASSED',
        agentsTests: sample(tests),
      },
    };
  },
};

async function revertedTrial(evidence: Tried, paths: readonly string[]): Promise<Outcome> {
  const { gitDir, base, commit } = evidence.result;
  const trial = await tryCommit(evidence, {
    name: 'control',
    commit: base,
    all: true,
    prepare: ({ tree }) => layPaths({ gitDir, commit, dir: tree }, paths),
  });
  return outcomeOf(trial);
}

/** By name where tests are named and a known runner ran, else by the commands' exit codes. */
function proves({ policy }: Tried, { passed: allPassed, report }: Outcome): { ok: boolean; what: string } {
  const { failToPass } = policy.checks;
  if (failToPass.length === 0 || !report)
    return { ok: !allPassed, what: allPassed ? 'the acceptance passes' : 'the acceptance fails' };
  const failing = new Set(notPassed(report, failToPass));
  const passing = failToPass.filter((name) => !failing.has(name));
  return passing.length > 0
    ? { ok: false, what: `${named(passing)} ${passing.length === 1 ? 'passes' : 'pass'}` }
    : {
        ok: true,
        what: `${counted(failToPass.length, 'test')} that must pass now ${failToPass.length === 1 ? 'fails' : 'fail'}`,
      };
}
