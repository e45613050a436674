import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { treeEntries } from '../adapters/git/entries.ts';
import type { Finding } from '../domain/receipt.ts';
import type { HeldOut } from '../domain/task.ts';
import { checkProblem } from '../domain/tests.ts';
import type { ReceiptCollector, Space, Tried } from '../ports.ts';
import { baseTrial } from './base-trial.ts';
import { counted } from './bounded.ts';
import { sha256 } from '../adapters/sha256.ts';
import { clearResults, readTests, watchTests } from './runners/index.ts';
import { judgedPaths, layTrial, spent, withoutSubmodules } from './trial.ts';

/** A check that is not there is the owner's to mend, not the agent's. */
class Unavailable extends Error {}

interface Checked {
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
    let left = policy.limits.verifyMs - spent(setup.steps);
    try {
      for (const [i, check] of checks.entries()) {
        const { folder, digest } = await bring(evidence, { check, space, i });
        const dir = `${space.aside}/reports-${randomBytes(8).toString('hex')}`;
        await clearResults({ tree: space.tree, results: [] });
        const { env, path } = await watchTests(dir);
        const { exitCode, timedOut, durationMs } = await space.run({
          command: 'sh "$HELD_OUT/check.sh"',
          timeoutMs: Math.max(1, Math.ceil(left)),
          env: { ...env, HELD_OUT: folder },
          path,
        });
        left -= durationMs;
        const problem = await problemOf(evidence, { dir, tree: space.tree });
        done.push({ sha256: digest, exitCode, timedOut, ...(problem ? { problem } : {}) });
      }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return { ok: false, reason: 'invalid-task', summary: error.message, evidence: { checks: done } };
    }
    return verdict(done);
  },
};

async function problemOf(evidence: Tried, { dir, tree }: { dir: string; tree: string }): Promise<Checked['problem']> {
  const now = await readTests({ dir, tree, results: [] });
  if (!now) return undefined;
  const { gitDir, commit } = evidence.result;
  const { entries } = await treeEntries(gitDir, commit);
  const base = now.cut ? (await baseTrial(evidence)).report : null;
  return checkProblem({ base, now, isProjects: (file) => entries.has(file) });
}

function verdict(checks: Checked[]): Finding {
  const failed = checks.filter(({ exitCode, timedOut, problem }) => exitCode !== 0 || timedOut || problem);
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
