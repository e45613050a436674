import { randomInt } from 'node:crypto';
import type { DeclaredTest } from '../../domain/evidence/test-source.ts';
import { statuses, type TestReport } from '../../domain/evidence/test-results.ts';
import { nameOf } from '../author/declared.ts';
import { Reported, type AuthorSource } from '../author/sources.ts';
import { turnTests } from '../../adapters/test-sources/index.ts';

/** A source whose tests can be turned, wherever it lies. */
export type Turned = Pick<AuthorSource, 'path' | 'source' | 'text'>;

/** A test that passed, and that fails once its expectations are wrong. */
export interface Turnable {
  at: Turned;
  test: DeclaredTest;
  name: string;
  /** One of its turns is evaluated whenever it passes. */
  sure: boolean;
  /** Of what was reported in its place, see `statuses`. */
  keys: string[];
}

/** The tests of these sources that passed and can be turned. A reported test that may be two of them is neither. */
export function turnablesOf(sources: readonly Turned[], report: TestReport): Turnable[] {
  const found = statuses(report);
  const keys = new Map([...found].map(([key, test]) => [test, key]));
  const reported = new Reported([...found.values()]);
  const all = sources.flatMap((at) => [...reported.of(at)].map(([test, results]) => ({ at, test, results })));
  const owners = new Map<string, number>();
  for (const { results } of all)
    for (const result of results) owners.set(keys.get(result)!, (owners.get(keys.get(result)!) ?? 0) + 1);
  return all.flatMap(({ at, test, results }) => {
    const own = results.map((result) => keys.get(result)!);
    const { turns, skipped, name } = test;
    if (turns.length === 0 || skipped || name.includes(null) || own.length === 0) return [];
    if (results.some(({ status }) => status !== 'passed') || own.some((key) => owners.get(key)! > 1)) return [];
    return [{ at, test, name: nameOf(test), sure: turns.some(({ sure }) => sure), keys: own }];
  });
}

/** One of so many is left as it is. */
const LEFT = 4;

/**
 * All but a random quarter, one at least: a secret that is kept nowhere. One that is sure is among them where there is any; a test
 * alone is turned.
 */
export function chooseTurned(all: readonly Turnable[]): Set<Turnable> {
  const chosen = shuffled(all);
  const left = all.length > 1 ? chosen.splice(0, Math.ceil(all.length / LEFT)) : [];
  const [sure] = chosen.some((one) => one.sure) ? [] : left.filter((one) => one.sure);
  // It changes places with another.
  return new Set(sure ? [sure, ...chosen.slice(1)] : chosen);
}

/** By a secret. */
export function shuffled<T>(items: readonly T[]): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(randomInt(rest.length), 1)[0]!);
}

/** The files that change, by path: those in which a test could be turned, whether one is or not. */
export function turnedFiles(all: readonly Turnable[], chosen: ReadonlySet<Turnable>): Map<string, string> {
  const byFile = new Map<Turned, Set<DeclaredTest>>(all.map(({ at }) => [at, new Set()]));
  for (const { at, test } of chosen) byFile.get(at)!.add(test);
  return new Map([...byFile].map(([at, tests]) => [at.path, turnTests(at.text, at.source, tests)]));
}

/** Milliseconds for a run of turned tests: one that fails may leave open what keeps its process, which is waited for no longer. */
export const turnedLimitMs = (leftMs: number, trialMs: number): number => Math.min(leftMs, 2 * trialMs + 20_000);
