import { randomBytes } from 'node:crypto';
import { checkoutTree, readBlobs, restoreFrom, type AsInBase } from '../../adapters/git/worktree/checkout.ts';
import { copyIgnored } from '../../adapters/git/worktree/copy-ignored.ts';
import { treeEntries, type Tree } from '../../adapters/git/entries.ts';
import { laySubmodules, pathsOf } from '../../adapters/git/worktree/lay-submodules.ts';
import type { TrackedFiles } from '../../adapters/git/worktree/tracked-files.ts';
import { matches } from '../../adapters/glob.ts';
import { stemOf, testGlobs } from '../../domain/repository/protected-paths.ts';
import type { Finding } from '../../domain/evidence/receipt.ts';
import type { TestReport } from '../../domain/evidence/test-results.ts';
import type { ContainedResult } from '../../domain/values/contained.ts';
import type { Space, SpaceName, Tried } from '../../ports.ts';
import { checkersOf, MANIFESTS, readsManifests } from './checkers.ts';
import { protecting } from './protecting.ts';
import { trackedFiles, type TouchedBy } from './tampering.ts';
import { clearResults, readTests, watchTests } from '../runners/index.ts';

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
  /** With what the commands left. */
  space: Space;
  /** What became of its files: missing where nobody asked. */
  touched?: TouchedBy[];
}

interface TrialInput {
  name: SpaceName;
  commit: string;
  /** What is put back to what it is in the base: before setup, and what the base has of it after setup as well. */
  asInBase?: AsInBase;
  /** Changes the checkout first. */
  prepare?: (space: Space) => Promise<void>;
  /** Changes what it is tried with, after all else: before setup and after it. */
  alter?: (tree: string) => void;
  /** Milliseconds for setup and commands; default: the policy's. */
  limitMs?: number;
  /** What becomes of its files is looked at after each command. */
  tracked?: true;
}

/** The commands of the policy on a commit. `all`: also those behind one that fails, as each may show tests. */
export async function tryCommit(evidence: Tried, order: TrialInput & { all?: boolean }): Promise<Trial> {
  const { policy } = evidence;
  const { space, restored, setup, files, touched } = await layTrial(evidence, order);
  const dir = `${space.aside}/reports-${randomBytes(8).toString('hex')}`;
  const results = policy.checks.results;
  await clearResults({ tree: space.tree, results });
  const watch = await watchTests(dir, { all: order.all ?? false });
  const left = (order.limitMs ?? policy.limits.verifyMs) - spent(setup.steps);
  const tried = setup.ok
    ? await runAll(space, {
        ...{ commands: policy.verify, leftMs: left, setup: false, watch, all: order.all ?? false },
        ran: async (command) => void (files && touched.push({ command, ...(await files.touched()) })),
      })
    : { steps: [], skipped: null };
  const steps = [...setup.steps, ...tried.steps];
  const report = await readTests({ dir, tree: space.tree, results });
  return { steps, skipped: tried.skipped, restored, report, space, ...(files ? { touched } : {}) };
}

/** Why a result can be tried out nowhere: where its submodules cannot be had. Undefined: they can. */
export async function withoutSubmodules({ submodules, result }: Tried): Promise<Finding | undefined> {
  const opened = await submodules(result);
  if (opened.ok) return undefined;
  const { why, message } = opened;
  return {
    ok: false,
    summary: message,
    evidence: { why },
    ...(why === 'unreachable' && { reason: 'repo-unavailable' }),
  };
}

/** A fresh checkout, with its submodules, and with what setup makes. */
export async function layTrial(
  evidence: Tried,
  { name, commit, prepare, asInBase, alter, limitMs, tracked }: TrialInput,
): Promise<{
  space: Space;
  restored: string[];
  setup: { ok: boolean; steps: Step[] };
  files: TrackedFiles | undefined;
  /** By setup, of which what is put back is no part. */
  touched: TouchedBy[];
}> {
  const { policy, result, checkout, rules = result.base } = evidence;
  const { gitDir } = result;
  const opened = await evidence.submodules({ gitDir, commit });
  if (!opened.ok) throw new Error(opened.message);
  const submodules = pathsOf(opened.submodules);
  const space = await evidence.space(name);
  await checkoutTree({ gitDir, commit, dir: space.tree });
  await laySubmodules(space.tree, opened.submodules);
  await prepare?.(space);
  const from = { gitDir, base: rules, dir: space.tree, submodules };
  const restored = asInBase ? await restoreFrom(from, asInBase) : [];
  if (checkout !== null && policy.copy.length > 0)
    await copyIgnored({ checkout, tree: space.tree, globs: policy.copy });
  alter?.(space.tree);
  const files = tracked && (await trackedFiles(evidence, { commit, dir: space.tree, restored }));
  const { steps, skipped } = await runAll(space, {
    commands: policy.setup,
    leftMs: limitMs ?? policy.limits.verifyMs,
    setup: true,
    watch: {},
    all: false,
  });
  // Setup may run what the agent wrote. What it adds is its business: packages above all.
  if (asInBase) await restoreFrom(from, { ...asInBase, added: () => false });
  alter?.(space.tree);
  const command = policy.setup.join(' && ');
  const touched = files && steps.length > 0 ? [{ command, ...(await files.touched()) }] : [];
  return { space, restored, setup: { ok: skipped === null && steps.every(passed), steps }, files, touched };
}

async function runAll(
  space: Space,
  order: {
    commands: readonly string[];
    leftMs: number;
    setup: boolean;
    watch: { env?: Record<string, string>; path?: string[] };
    all: boolean;
    ran?: (command: string) => Promise<void>;
  },
): Promise<{ steps: Step[]; skipped: string | null }> {
  const steps: Step[] = [];
  let left = order.leftMs;
  for (const command of order.commands) {
    if (left <= 0) return { steps, skipped: command };
    const result = await space.run({ command, setup: order.setup, timeoutMs: Math.ceil(left), ...order.watch });
    const step = { command, setup: order.setup, result };
    steps.push(step);
    await order.ran?.(command);
    left -= result.durationMs;
    if (!passed(step) && !order.all) break;
  }
  return { steps, skipped: null };
}

/** A word that the shell does not know counts also where the command's exit code does not tell of it. */
export const passed = ({ result }: Step): boolean =>
  result.exitCode === 0 && !result.timedOut && result.notFound.length === 0;

/** What setup makes was there: the commands had what they need. */
export const isSetUp = ({ steps }: Pick<Trial, 'steps'>): boolean => steps.every((step) => !step.setup || passed(step));

export const spent = (steps: readonly Step[]): number => steps.reduce((sum, { result }) => sum + result.durationMs, 0);

export type Judged = Pick<Tried, 'policy' | 'result' | 'rules'>;

/** What is protected; and where no scope says what may be changed, the tests and whatever configures them. */
export async function judgedPaths(evidence: Judged): Promise<AsInBase> {
  const { policy, result, rules = result.base } = evidence;
  const { allow, restore } = policy;
  const isProtected = protecting(evidence.policy);
  if (allow.length > 0) return { changed: isProtected, added: isProtected };
  const tree = await treeEntries(result.gitDir, rules);
  const base = [...tree.entries.keys()];
  const isTest = matches(testGlobs(restore));
  const isConfig = matches(restore.flatMap(({ config }) => [...config]));
  // Of an ecosystem that the base has nothing of, all is the agent's: a new project.
  const known = restore.filter((one) => base.some(matches(one.sign ?? [...one.tests, ...one.config])));
  const isNewConfig = matches(known.flatMap(({ config }) => [...config]));
  const stems = new Set(base.filter(isTest).map(stemOf));
  const scripts = await checkers(evidence, tree);
  return {
    changed: (path) => isProtected(path) || isTest(path) || isConfig(path) || scripts.has(path) || path === RULES,
    // A new test is welcome, also with helpers of its own; one that would be imported in place of an old file is not.
    added: (path) =>
      isProtected(path) || isNewConfig(path) || (isTest(path) && stems.has(stemOf(path))) || path === RULES,
  };
}

/** What rules all later tasks. */
const RULES = '.fleet.yaml';

/**
 * What of it a result is delivered with as in the base: not what `protect` names, whose change is a violation that only a
 * person may accept; and where nothing is tried out, the rules alone. A new file below `protect` is delivered, unless it bears
 * upon what the base has there.
 */
export async function restoredPaths(judged: Judged): Promise<AsInBase> {
  const { verify, checks, newProtected } = judged.policy;
  const { changed, added } = await judgedPaths(judged);
  const isProtected = protecting(judged.policy);
  const bears = await bearing(judged);
  const isTried = verify.length + checks.heldOut.length > 0;
  const restored = (path: string) => (isTried || path === RULES) && !isProtected(path);
  return {
    changed: (path) => restored(path) && changed(path),
    added: (path) => (isProtected(path) ? newProtected !== 'refuse' && bears(path) : restored(path) && added(path)),
  };
}

/** Of new files below `protect`: what configures a runner or a build, what git goes by, and what would be taken in place of an old file. */
async function bearing({ policy, result, rules = result.base }: Judged): Promise<(path: string) => boolean> {
  if (policy.protect.length === 0) return () => false;
  const isConfig = matches(policy.restore.flatMap(({ config }) => [...config]));
  const isProtected = protecting(policy);
  const { entries } = await treeEntries(result.gitDir, rules);
  const { entries: now } = await treeEntries(result.gitDir, result.commit);
  const stems = new Set([...entries.keys()].filter(isProtected).map(stemOf));
  return (path) =>
    isConfig(path) || /(^|\/)\.git[^/]*$/i.test(path) || stems.has(stemOf(path)) || now.get(path)?.mode === '160000';
}

/** The base's own programs that check, which the commands run. */
async function checkers({ policy, result }: Judged, base: Tree): Promise<Set<string>> {
  const isManifest = matches(MANIFESTS);
  const files = policy.verify.some(readsManifests)
    ? [...base.entries].filter(
        ([path, { mode }]) => mode.startsWith('100') && isManifest(path) && !/(?:^|\/)node_modules\//.test(path),
      )
    : [];
  const texts = await readBlobs(
    result.gitDir,
    files.map(([, { id }]) => id),
  );
  const manifests = new Map(files.map(([path], i) => [path, String(texts[i])]));
  return checkersOf(policy.verify, { base: [...base.entries.keys()], manifests });
}
