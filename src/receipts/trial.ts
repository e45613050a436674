import { randomBytes } from 'node:crypto';
import { checkoutTree, restoreFrom, type AsInBase } from '../adapters/git/checkout.ts';
import { copyIgnored } from '../adapters/git/copy-ignored.ts';
import { treeEntries } from '../adapters/git/entries.ts';
import { matches } from '../adapters/glob.ts';
import { stemOf } from '../domain/protected.ts';
import type { Policy } from '../domain/repo-policy.ts';
import type { TestReport } from '../domain/tests.ts';
import type { ContainedResult, Space, SpaceName, Tried } from '../ports.ts';
import { clearResults, readTests, watchTests } from './runners/index.ts';

export interface Step {
  command: string;
  setup: boolean;
  result: ContainedResult;
}

/** What the setup and acceptance commands did in a fresh checkout: all in order until one fails, within one limit. */
export interface Trial {
  steps: Step[];
  /** The command that there was no time left for. */
  skipped: string | null;
  /** Null: no known test runner ran. */
  report: TestReport | null;
  /** Paths that were put back to what they are in the base. */
  restored: string[];
}

/** The commands of the policy on a commit. `prepare` changes the checkout first and gives the paths that it put back. */
export async function tryCommit(
  evidence: Tried,
  { name, commit, prepare }: { name: SpaceName; commit: string; prepare?: (space: Space) => Promise<string[]> },
): Promise<Trial> {
  const { policy } = evidence;
  const { space, restored, setup } = await layTrial(evidence, { name, commit, ...(prepare ? { prepare } : {}) });
  const dir = `${space.aside}/reports-${randomBytes(8).toString('hex')}`;
  const results = policy.checks.results;
  await clearResults({ tree: space.tree, results });
  const watch = await watchTests({ dir, tree: space.tree });
  const left = policy.limits.verifyMs - spent(setup.steps);
  const tried = setup.ok
    ? await runAll(space, { commands: policy.verify, leftMs: left, setup: false, watch })
    : { steps: [], skipped: null };
  const steps = [...setup.steps, ...tried.steps];
  return { steps, skipped: tried.skipped, restored, report: await readTests({ dir, tree: space.tree, results }) };
}

/** A fresh checkout with what setup makes. */
export async function layTrial(
  evidence: Tried,
  { name, commit, prepare }: { name: SpaceName; commit: string; prepare?: (space: Space) => Promise<string[]> },
): Promise<{ space: Space; restored: string[]; setup: { ok: boolean; steps: Step[] } }> {
  const { policy, result, checkout } = evidence;
  const space = await evidence.space(name);
  await checkoutTree({ gitDir: result.gitDir, commit, dir: space.tree });
  const restored = (await prepare?.(space)) ?? [];
  if (checkout !== null && policy.copy.length > 0)
    await copyIgnored({ checkout, tree: space.tree, globs: policy.copy });
  const { steps, skipped } = await runAll(space, {
    commands: policy.setup,
    leftMs: policy.limits.verifyMs,
    setup: true,
    watch: {},
  });
  return { space, restored, setup: { ok: skipped === null && steps.every(passed), steps } };
}

async function runAll(
  space: Space,
  order: {
    commands: readonly string[];
    leftMs: number;
    setup: boolean;
    watch: { env?: Record<string, string>; path?: string[] };
  },
): Promise<{ steps: Step[]; skipped: string | null }> {
  const steps: Step[] = [];
  let left = order.leftMs;
  for (const command of order.commands) {
    if (left <= 0) return { steps, skipped: command };
    const result = await space.run({ command, timeoutMs: Math.ceil(left), ...order.watch });
    const step = { command, setup: order.setup, result };
    steps.push(step);
    left -= result.durationMs;
    if (!passed(step)) break;
  }
  return { steps, skipped: null };
}

/** A word that the shell does not know counts also where the command's exit code does not tell of it. */
export const passed = ({ result }: Step): boolean =>
  result.exitCode === 0 && !result.timedOut && result.notFound.length === 0;

export const spent = (steps: readonly Step[]): number => steps.reduce((sum, { result }) => sum + result.durationMs, 0);

/** In the checkout of a result: what the agent may not decide about is as in the base. */
export async function asJudged({ policy, result }: Tried, { tree }: Space): Promise<string[]> {
  const { gitDir, base } = result;
  const { entries } = await treeEntries(gitDir, base);
  return restoreFrom({ gitDir, base, dir: tree }, judgedPaths(policy, [...entries.keys()]));
}

/** What is protected; and where no scope says what may be changed, the tests and whatever configures them. */
function judgedPaths({ protect, allow, restore }: Policy, base: readonly string[]): AsInBase {
  const isProtected = matches(protect);
  if (allow.length > 0) return { changed: isProtected, added: isProtected };
  const isTest = matches(restore.tests);
  const isConfig = matches(restore.config);
  const stems = new Set(base.filter(isTest).map(stemOf));
  return {
    changed: (path) => isProtected(path) || isTest(path) || isConfig(path),
    // A new test is welcome, also with helpers of its own; one that would be imported in place of an old file is not.
    added: (path) => isProtected(path) || isConfig(path) || (isTest(path) && stems.has(stemOf(path))),
  };
}
