import { lstat, readdir, readFile, writeFile } from 'node:fs/promises';
import { isUtf8 } from 'node:buffer';
import { posix } from 'node:path';
import type { HeldOut } from '../../domain/task/schema.ts';
import type { TestReport } from '../../domain/evidence/test-results.ts';
import type { Tried } from '../../ports.ts';
import { failedCheck, runCheck } from '../kinds/held-out.ts';
import { isRead, readSources } from '../../adapters/test-sources/index.ts';
import { judgedPaths, layTrial, spent } from '../trial/trial.ts';
import { answersOf } from './answers.ts';
import { chooseTurned, turnablesOf, turnedFiles, turnedLimitMs, type Turnable } from './turnable.ts';

export interface HeldOutChallenge {
  /** Checks with tests that were turned. */
  checks: number;
  turned: number;
  /** Checks that passed nevertheless, or in which a test did that surely fails. */
  passed: number;
  /** None of the checks has a test that can be turned. */
  notPossible?: 'nothing-to-turn' | 'no-time';
}

const MAX_FILES = 50;
const MAX_BYTES = 1_000_000;

/** The owner's checks that are folders with test files, each again with some of its tests turned wrong: it has to fail. */
export async function challengeHeldOut(evidence: Tried): Promise<HeldOutChallenge | undefined> {
  const { policy, result, passed } = evidence;
  if (!passed.heldOut) return undefined;
  const { reports, trialMs } = passed.heldOut;
  const able = await Promise.all(
    policy.checks.heldOut.map(async (check, i) => ({
      check,
      i,
      all: await turnablesIn(evidence, { check, report: reports[i] ?? null }),
    })),
  );
  const turning = able.filter(({ all }) => all.some(({ sure }) => sure));
  const told: HeldOutChallenge = { checks: turning.length, turned: 0, passed: 0 };
  if (turning.length === 0) return { ...told, notPossible: 'nothing-to-turn' };
  const { space, setup } = await layTrial(evidence, {
    ...{ name: 'challenge', commit: result.commit, asInBase: await judgedPaths(evidence) },
  });
  let leftMs = turnedLimitMs(policy.limits.verifyMs, trialMs) - spent(setup.steps);
  for (const { check, i, all } of turning) {
    if (leftMs <= 0 || !setup.ok) return told.turned > 0 ? told : { ...told, notPossible: 'no-time' };
    const chosen = chooseTurned(all);
    const files = turnedFiles(all, chosen);
    const { checked, report, durationMs } = await runCheck(evidence, {
      ...{ check, space, i, leftMs },
      alter: async (folder) => {
        for (const [path, text] of files) await writeFile(`${folder}/${path}`, text);
      },
    });
    leftMs -= durationMs;
    const { passed: fooled } = answersOf(all, {
      chosen,
      report: report && withoutFiles(report),
      exitedWell: !failedCheck(checked),
      ended: !checked.timedOut,
    });
    told.turned += chosen.size;
    if (!failedCheck(checked) || fooled.some(({ sure }) => sure)) told.passed += 1;
  }
  return told;
}

async function turnablesIn(
  { heldOutDir }: Tried,
  { check, report }: { check: HeldOut; report: TestReport | null },
): Promise<Turnable[]> {
  if (check.path === undefined || !report) return [];
  const texts = await textsBelow(`${heldOutDir}/${check.path}`);
  const sources = await readSources([...texts].map(([path, text]) => ({ path, text })));
  const turned = sources.flatMap((source) => {
    const text = texts.get(source.path);
    return text === undefined ? [] : [{ path: source.path, text, source }];
  });
  return turnablesOf(turned, withoutFiles(report));
}

/** A check may lie anywhere, and copy its tests to where they run. */
const withoutFiles = (report: TestReport): TestReport => ({
  ...report,
  tests: report.tests.map(({ file: _, ...test }) => test),
});

async function textsBelow(folder: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const open = (await lstat(folder).catch(() => undefined))?.isDirectory() ? [''] : [];
  for (let dir = open.pop(); dir !== undefined; dir = open.pop())
    for (const entry of await readdir(`${folder}/${dir}`, { withFileTypes: true })) {
      const path = posix.join(dir, entry.name);
      if (entry.isDirectory() && entry.name !== 'node_modules') open.push(path);
      if (!entry.isFile() || !isRead(path) || texts.size >= MAX_FILES) continue;
      const content = await readFile(`${folder}/${path}`);
      if (content.length <= MAX_BYTES && isUtf8(content)) texts.set(path, String(content));
    }
  return texts;
}
