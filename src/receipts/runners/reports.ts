import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { TestReport, TestResult } from '../../domain/tests.ts';

const MAX_TESTS = 100_000;
const MAX_NAME = 2_000;

/** One test as a runner reported it. */
export interface Reported {
  /** Suites and the test. */
  name: readonly string[];
  /** Absolute, or relative to the checkout. */
  file?: string | undefined;
  status: TestResult['status'];
}

/** Gathers what was reported into names that are the same in every checkout. */
export class Reports {
  readonly #runners = new Set<string>();
  readonly #tests: TestResult[] = [];
  readonly #trees: string[];

  constructor(tree: string) {
    this.#trees = [...new Set([realpathSync(tree), tree])];
  }

  /**
   * The tests of one run of a runner, in order: what comes twice in it is told apart by a number. @throws above 100,000 in all
   */
  add(runner: string, tests: readonly Reported[]): void {
    this.#runners.add(runner);
    const seen = new Map<string, number>();
    for (const { name, file, status } of tests) {
      const where = file === undefined ? undefined : this.#inTree(file);
      const plain = this.#clean(name.join(' > '));
      const key = `${where}\0${plain}`;
      const nth = (seen.get(key) ?? 0) + 1;
      seen.set(key, nth);
      const unique = nth === 1 ? plain : `${plain} (${nth})`;
      this.#tests.push({ name: unique, ...(where === undefined ? {} : { file: where }), status });
    }
    if (this.#tests.length > MAX_TESTS) throw new Error('too many tests');
  }

  all(): TestReport {
    return { runners: [...this.#runners].toSorted(), tests: this.#tests };
  }

  #inTree(file: string): string | undefined {
    const path = isAbsolute(file) ? file : join(this.#trees[0]!, file);
    const inside = this.#trees.map((tree) => relative(tree, path)).find((rest) => !rest.startsWith('..'));
    return inside === undefined || inside === '' ? undefined : this.#clean(inside);
  }

  /** Names are the project's text: no control characters, and no path of this one checkout. */
  #clean(text: string): string {
    const bare = this.#trees.reduce((rest, tree) => rest.replaceAll(`${tree}/`, ''), text);
    return bare.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, MAX_NAME);
  }
}
