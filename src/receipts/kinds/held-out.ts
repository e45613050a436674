import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { treeEntries } from '../../adapters/git/entries.ts';
import type { Finding } from '../../domain/evidence/receipt.ts';
import type { HeldOut } from '../../domain/task/schema.ts';
import { checkProblem, type TestReport } from '../../domain/evidence/test-results.ts';
import type { ReceiptCollector, Space, Tried } from '../../ports.ts';
import { baseTrial } from '../trial/base-trial.ts';
import { counted } from '../bounded.ts';
import { sha256 } from '../../adapters/sha256.ts';
import { clearResults, readTests, watchTests } from '../runners/index.ts';
import { judgedPaths, layTrial, spent, withoutSubmodules } from '../trial/trial.ts';

/** A check that is not there is the owner's to mend, not the agent's. */
class Unavailable extends Error {}

export interface Checked {
  sha256: string;
  exitCode: number | null;
  timedOut: boolean;
  /** Its known test runner ended early, ran no test that passes, or reported one of its own as failed: an exit code of 0 says nothing then. */
  problem?: 'cut-short' | 'no-tests' | 'failed-tests';
}

/**
 * The owner's own checks, which no agent has seen: scripts that get the checkout of the result as their working folder. What
 * they say stays in a log beside the run; the agent of the next run only hears that one failed.
 */
export const heldOut: ReceiptCollector<Tried> = {
  kind: 'held-out',
  async collect(evidence) {
    const { policy, result } = evidence;
    const checks = policy.checks.heldOut;
    if (checks.length === 0) return undefined;
    const lacking = await withoutSubmodules(evidence);
    if (lacking) return lacking;
    const { space, setup } = await layTrial(evidence, {
      name: 'held-out',
      commit: result.commit,
      asInBase: await judgedPaths(evidence),
    });
    if (!setup.ok)
      return { ok: false, summary: "the repository's setup failed before the held-out checks", evidence: {} };
    const done: Checked[] = [];
    const reports: (TestReport | null)[] = [];
    let usedMs = spent(setup.steps);
    try {
      for (const [i, check] of checks.entries()) {
        const leftMs = policy.limits.verifyMs - usedMs;
        const { checked, report, durationMs } = await runCheck(evidence, { check, space, i, leftMs });
        usedMs += durationMs;
        done.push(checked);
        reports.push(report);
      }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return { ok: false, reason: 'invalid-task', summary: error.message, evidence: { checks: done } };
    }
    const finding = verdict(done);
    if (finding.ok) evidence.passed.heldOut = { reports, trialMs: usedMs };
    return finding;
  },
};

/** One check, in a checkout that is set up. `alter`: changes the check's own files first. */
export async function runCheck(
  evidence: Tried,
  order: { check: HeldOut; space: Space; i: number; leftMs: number; alter?: (folder: string) => Promise<void> },
): Promise<{ checked: Checked; report: TestReport | null; durationMs: number }> {
  const { space, leftMs, alter } = order;
  const { folder, digest } = await bring(evidence, order);
  await alter?.(folder);
  const dir = `${space.aside}/reports-${randomBytes(8).toString('hex')}`;
  await clearResults({ tree: space.tree, results: [] });
  const { env, path } = await watchTests(dir);
  const { exitCode, timedOut, durationMs } = await space.run({
    command: 'sh "$HELD_OUT/check.sh"',
    timeoutMs: Math.max(1, Math.ceil(leftMs)),
    env: { ...env, HELD_OUT: folder },
    path,
  });
  const report = await readTests({ dir, tree: space.tree, results: [] });
  const problem = await problemOf(evidence, report);
  return { checked: { sha256: digest, exitCode, timedOut, ...(problem ? { problem } : {}) }, report, durationMs };
}

async function problemOf(evidence: Tried, now: TestReport | null): Promise<Checked['problem']> {
  if (!now) return undefined;
  const { gitDir, commit } = evidence.result;
  const { entries } = await treeEntries(gitDir, commit);
  const base = now.cut ? (await baseTrial(evidence)).report : null;
  return checkProblem({ base, now, isProjects: (file) => entries.has(file) });
}

/** Whether a check says no. */
export const failedCheck = ({ exitCode, timedOut, problem }: Checked): boolean =>
  exitCode !== 0 || timedOut || problem !== undefined;

function verdict(checks: Checked[]): Finding {
  const failed = checks.filter(failedCheck);
  const summary =
    failed.length > 0
      ? `${failed.length} of ${counted(checks.length, 'check')} failed that the agent cannot see`
      : `${counted(checks.length, 'check')} passed that the agent cannot see`;
  return { ok: failed.length === 0, ...(failed.length === 0 ? { shows: true } : {}), summary, evidence: { checks } };
}

/** Beside the checkout, where nothing that runs in it can write: a folder with its `check.sh`, or a script. */
async function bring(
  { heldOutDir, unseal }: Tried,
  { check, space, i }: { check: HeldOut; space: Space; i: number },
): Promise<{ folder: string; digest: string }> {
  const folder = `${space.given}/${randomUUID()}`;
  await mkdir(folder);
  const script = `${folder}/check.sh`;
  if (check.sealed !== undefined) {
    const text = await unseal(check.sealed).catch((error: unknown) => {
      throw new Unavailable(`held-out check ${i + 1}: ${error instanceof Error ? error.message : String(error)}`);
    });
    await writeFile(script, text);
  } else {
    const from = `${heldOutDir}/${check.path}`;
    const stat = await lstat(from).catch(() => undefined);
    if (!stat?.isFile() && !stat?.isDirectory())
      throw new Unavailable(
        `held-out check ${i + 1}: there is no ${check.path} in held-out of this worker's FLEET_HOME`,
      );
    await cp(from, stat.isFile() ? script : folder, { recursive: true });
    if (!existsSync(script)) throw new Unavailable(`held-out check ${i + 1}: ${check.path} has no check.sh`);
  }
  return { folder, digest: sha256(await readFile(script)) };
}
