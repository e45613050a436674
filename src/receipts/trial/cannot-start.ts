import { posix } from 'node:path';
import { treeEntries } from '../../adapters/git/entries.ts';
import { readBlobs } from '../../adapters/git/worktree/checkout.ts';
import { declaredIn, missingSetup } from '../../domain/repository/declared-dependencies.ts';
import type { TestReport } from '../../domain/evidence/test-results.ts';
import type { Tried } from '../../ports.ts';
import { passed, type Trial } from './trial.ts';

/** How the first command of a trial that failed did so; none where it was cut short. */
export interface FirstFailure {
  command: string;
  setup: boolean;
  exitCode: number | null;
  notFound: string[];
  /** Without numbers and the place of the checkout: the same in each trial that fails in the same way. */
  said: string;
}

export function firstFailure({ steps, space }: Pick<Trial, 'steps' | 'space'>): FirstFailure | null {
  const failed = steps.find((step) => !passed(step));
  if (!failed || failed.result.timedOut || failed.result.signal !== null) return null;
  const { command, setup, result } = failed;
  const said = result.said.replaceAll(space.tree, '').replaceAll(/\d+/g, '#').trim();
  return { command, setup, exitCode: result.exitCode, notFound: result.notFound, said };
}

interface Base {
  failure: FirstFailure | null;
  report: TestReport | null;
}

/** A trial that says nothing about the change. */
export interface Unchecked {
  reason: 'check-cannot-start' | 'setup-failed';
  why: string;
}

/**
 * Why the commands say nothing about the change: they fail on the base in the same way, before they check anything. A program is
 * not there, which no agent can bring; or not one test was loaded; or setup fails there too: that is `setup-failed` where it passed
 * when the run began, as it may pass again. By exit codes, reports and equal output alone.
 * Undefined: they do check something, or it may be the agent's to make. `onBase` is only asked where that can be.
 */
export async function cannotStart(
  evidence: Tried,
  { trial, onBase }: { trial: Trial; onBase: () => Promise<Base> },
): Promise<Unchecked | undefined> {
  const now = firstFailure(trial);
  if (!now) return undefined;
  const hint = await missingSetupOf(evidence, now.command);
  const kind = kindOf(now, { report: trial.report, changed: evidence.result.commit !== evidence.result.base, hint });
  if (!kind || (kind !== 'setup' && (await namesNew(evidence, now.command)))) return undefined;
  const base = await onBase();
  const then = base.failure;
  if (then?.command !== now.command || then.setup !== now.setup || then.exitCode !== now.exitCode) return undefined;
  if (kind === 'unloaded' && (then.said !== now.said || !ranNothing(base.report))) return undefined;
  if (kind === 'program' && then.notFound.join() !== now.notFound.join()) return undefined;
  if (kind === 'setup' && evidence.setUp === true && now.exitCode !== 0 && !UNSTARTABLE.has(now.exitCode))
    return { reason: 'setup-failed', why: 'it fails on the base in the same way, and passed when the run began' };
  const add = hint === undefined ? '' : ` (${hint})`;
  return { reason: 'check-cannot-start', why: `no change can pass it, as it fails on the base in the same way${add}` };
}

type Kind = 'setup' | 'program' | 'unloaded';

function kindOf(
  { setup, exitCode, notFound, said }: FirstFailure,
  { report, changed, hint }: { report: TestReport | null; changed: boolean; hint: string | undefined },
): Kind | undefined {
  if (setup) return 'setup';
  if (isUnstartable({ exitCode, notFound })) return 'program';
  // A plain check fails in the same way wherever its work is not done: only a runner's report, or what is known to lack, tells.
  const told = report ? report.tests.some(({ status }) => status === 'failed') : hint !== undefined;
  return changed && told && said !== '' && ranNothing(report) ? 'unloaded' : undefined;
}

/** By POSIX: 126, found and not to be executed; 127, not found. */
const UNSTARTABLE = new Set<number | null>([126, 127]);
export const isUnstartable = ({ exitCode, notFound }: Pick<FirstFailure, 'exitCode' | 'notFound'>): boolean =>
  UNSTARTABLE.has(exitCode) || (exitCode !== 0 && notFound.length > 0);

/** What stands in a report in the place of tests is none. */
const ranNothing = (report: TestReport | null): boolean =>
  !report || report.tests.every(({ status, fixture }) => status === 'skipped' || fixture === true);

/** Where a task's own command goes first. */
const folderOf = (command: string): string | undefined => /^cd ([\w./@-]+) && /.exec(command)?.[1];

/** Made by setup, or by nobody's commit. */
const INSTALLED = /^(?:node_modules|\.?venv|vendor)\//;

/** Whether a command names a file that the base lacks: then it may be the agent's to write. */
async function namesNew({ result }: Tried, command: string): Promise<boolean> {
  const { entries, folders } = await treeEntries(result.gitDir, result.base);
  const into = folderOf(command) ?? '.';
  const words = command
    .split(/[\s;|&()<>{}'"`=]+/)
    .filter((word) => !word.startsWith('-') && /[^.]\.\w{1,5}$|\//.test(word));
  const there = (path: string) =>
    path === '.' || entries.has(path) || folders.has(Buffer.from(path).toString('latin1'));
  return words.some((word) => {
    if (/[*?$~:]|^\//.test(word)) return false;
    const path = posix.normalize(word).replace(/(?:^|\/)(?:\.\.\.)?\/?$/, '') || '.';
    return !INSTALLED.test(path) && !there(path) && !there(posix.join(into, path));
  });
}

/** What to add to `.fleet.yaml`, where dependencies are declared and nothing installs them. */
async function missingSetupOf({ policy, result }: Tried, command: string): Promise<string | undefined> {
  if (policy.setup.length > 0 || policy.copy.length > 0) return undefined;
  const { entries } = await treeEntries(result.gitDir, result.base);
  const read = async (path: string) => {
    const entry = entries.get(path);
    return entry?.mode.startsWith('100') ? String((await readBlobs(result.gitDir, [entry.id]))[0]) : undefined;
  };
  const paths = new Set(entries.keys());
  return missingSetup(await declaredIn([undefined, folderOf(command)], { paths, read }));
}
