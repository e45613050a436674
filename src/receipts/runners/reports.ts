import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { failedOutput } from '../../domain/evidence/failed-output.ts';
import type { TestReport, TestResult } from '../../domain/evidence/test-results.ts';

const MAX_TESTS = 100_000;
const MAX_NAME = 2_000;
/** Characters of one failed test, and failed tests that are kept with their text. */
const MAX_SAID = 1_000;
const MAX_TELLING = 20;
/** Tests that are kept of those that ran when all was ended. */
const MAX_RUNNING = 5;
const MAX_RUNNING_NAME = 200;
const MAX_CHANGED = 100;
const WORST_FIRST = ['failed', 'skipped', 'passed'] as const;

/** One test as a runner reported it. */
export interface Reported {
  /** Suites and the test. */
  name: readonly string[];
  /** Absolute, or relative to the checkout. */
  file?: string | undefined;
  status: TestResult['status'];
  fixture?: true | undefined;
  /** What a failed one said, as long as its runner makes it. */
  said?: string | undefined;
}

/** Gathers what was reported into names that are the same in every checkout. */
export class Reports {
  readonly #runners = new Set<string>();
  readonly #cut = new Set<string>();
  readonly #running = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #tests: TestResult[] = [];
  readonly #trees: string[];
  #telling = 0;

  constructor(tree: string) {
    this.#trees = [...new Set([realpathSync(tree), tree])];
  }

  /**
   * The tests of one run of a runner, in order. What comes twice in it is told apart by a number, and ended each time as the worst
   * of them did: a line that was added to the report hides no failure. @throws above 100,000 in all
   */
  add(runner: string, tests: readonly Reported[]): void {
    this.#runners.add(runner);
    const twins = new Map<string, TestResult[]>();
    for (const { name, file, status, fixture, said } of tests) {
      const where = file === undefined ? undefined : this.#inTree(file);
      const plain = this.#clean(name.join(' > '));
      const key = `${where}\0${plain}`;
      const same = twins.get(key) ?? [];
      twins.set(key, same);
      const unique = same.length === 0 ? plain : `${plain} (${same.length + 1})`;
      const place = where === undefined ? {} : { file: where };
      const told = status === 'failed' && said ? this.#told(said) : {};
      same.push({ name: unique, ...place, status, ...(fixture ? { fixture } : {}), ...told });
    }
    for (const same of twins.values()) {
      const status = WORST_FIRST.find((one) => same.some((test) => test.status === one)) ?? 'failed';
      this.#tests.push(...same.map((test) => ({ ...test, status })));
    }
    if (this.#tests.length > MAX_TESTS) throw new Error('too many tests');
  }

  /** A run of the runner began and did not come to its end. */
  addCut(runner: string): void {
    this.#cut.add(runner);
  }

  /** What decides how tests end, and is another function by now. */
  addChanged(names: readonly string[]): void {
    for (const name of names) if (this.#changed.size < MAX_CHANGED) this.#changed.add(this.#clean(name));
  }

  /** A test that had begun. */
  addRunning(name: readonly string[], file: string | undefined): void {
    const where = file === undefined ? undefined : this.#inTree(file);
    const plain = this.#clean(name.join(' > ')).slice(0, MAX_RUNNING_NAME);
    if (this.#running.size < MAX_RUNNING) this.#running.add(where && where !== plain ? `${plain} (${where})` : plain);
  }

  all(): TestReport {
    const cut = [...this.#cut].toSorted();
    const running = [...this.#running].toSorted();
    return {
      ...{ runners: [...this.#runners].toSorted(), tests: this.#tests },
      ...(cut.length > 0 ? { cut } : {}),
      ...(running.length > 0 ? { running } : {}),
      ...(this.#changed.size > 0 ? { changed: [...this.#changed].toSorted() } : {}),
    };
  }

  #told(said: string): { said?: string } {
    this.#telling += 1;
    if (this.#telling > MAX_TELLING) return {};
    return { said: failedOutput(this.#relative(said.slice(0, 8 * MAX_SAID)), MAX_SAID) };
  }

  #inTree(file: string): string | undefined {
    const path = isAbsolute(file) ? file : join(this.#trees[0]!, file);
    const inside = this.#trees.map((tree) => relative(tree, path)).find((rest) => !rest.startsWith('..'));
    return inside === undefined || inside === '' ? undefined : this.#clean(inside);
  }

  /** Names are the project's text: no control characters, and no path of this one checkout. */
  #clean(text: string): string {
    return this.#relative(text)
      .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
      .slice(0, MAX_NAME);
  }

  #relative(text: string): string {
    return this.#trees.reduce((rest, tree) => rest.replaceAll(`file://${tree}/`, '').replaceAll(`${tree}/`, ''), text);
  }
}
