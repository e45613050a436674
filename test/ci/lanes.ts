import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** Something that tells how many tests were green, and what was not. */
export interface Job {
  name: string;
  run(): Promise<Found>;
}

interface Found {
  passed: number;
  /** What is red and stays so. */
  failed: string[];
  /** What is red, and is to run once more. */
  retries: Retry[];
}

interface Retry {
  what: string;
  /** Runs it alone; resolves with the number of its tests where all were green, else 0. */
  again(): Promise<number>;
}

/** Seconds since the start: no job begins after `start`, no second run after `retry`, and nothing lives after `end`. */
export interface Limits {
  start: number;
  retry: number;
  end: number;
}

export interface Sum {
  passed: number;
  /** One line each, as the rest. */
  failed: string[];
  /** Red at first, green when run once more with nothing else beside it. */
  blinked: string[];
  /** Jobs that never began, for want of time. */
  leftOut: string[];
}

interface JestResult {
  success: boolean;
  numPassedTests: number;
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
}

/** Runs jobs of jest and others; says what they say, each in one piece. */
export class Lanes {
  readonly #limits: Limits;
  readonly #say: (text: string) => void;
  readonly #startedMs: number;
  readonly #results = mkdtempSync(join(tmpdir(), 'fleet-suites-'));

  /** `elapsedS`: seconds of the limits that were gone before. */
  constructor(limits: Limits, say: (text: string) => void, elapsedS = 0) {
    this.#limits = limits;
    this.#say = say;
    this.#startedMs = performance.now() - elapsedS * 1000;
  }

  elapsedS(): number {
    return Math.round((performance.now() - this.#startedMs) / 1000);
  }

  /** The tests of one configuration of jest, or of one file of it. */
  suite(name: string, config: string, file?: string): Job {
    return { name, run: () => this.#suite({ name, config }, file) };
  }

  /** A command that is green where it exits with 0; it counts as one test. */
  command(name: string, argv: readonly string[]): Job {
    const again = async () => ((await this.#start(name, argv)) === 0 ? 1 : 0);
    const run = async () => {
      const passed = await again();
      return { passed, failed: [], retries: passed ? [] : [{ what: name, again }] };
    };
    return { name, run };
  }

  /**
   * Runs the jobs of a lane one after the other, all lanes side by side, and then once more what was red. A lane that is through
   * takes the last job of the one with most left.
   */
  async run(lanes: readonly (readonly Job[])[]): Promise<Sum> {
    const sum: Sum = { passed: 0, failed: [], blinked: [], leftOut: [] };
    const retries: Retry[] = [];
    const left = lanes.map((lane) => [...lane]);
    const next = (own: Job[]) => own.shift() ?? left.toSorted((one, other) => other.length - one.length)[0]?.pop();
    const runLane = async (own: Job[]) => {
      for (let job = next(own); job; job = next(own)) {
        if (this.elapsedS() > this.#limits.start) {
          sum.leftOut.push(job.name);
          continue;
        }
        const found = await job.run();
        sum.passed += found.passed;
        sum.failed.push(...found.failed);
        retries.push(...found.retries);
      }
    };
    await Promise.all(left.map(runLane));
    for (const { what, again } of retries) {
      const passed = this.elapsedS() > this.#limits.retry ? 0 : await again();
      sum.passed += passed;
      (passed > 0 ? sum.blinked : sum.failed).push(what);
    }
    rmSync(this.#results, { recursive: true, force: true });
    return sum;
  }

  async #suite(suite: { name: string; config: string }, file?: string): Promise<Found> {
    const found = await this.#jest(suite, file ? ['--runTestsByPath', file] : []);
    if (!found) return { passed: 0, failed: [`${suite.name}: no results`], retries: [] };
    const retries = found.testResults.flatMap(({ name: path, status, assertionResults }): Retry[] => {
      const red = assertionResults.filter((test) => test.status === 'failed').map(({ fullName }) => fullName);
      if (red.length === 0 && status === 'failed')
        return [{ what: `${suite.name}: ${basename(path)}`, again: () => this.#alone(suite, path) }];
      return red.map((test) => ({ what: `${suite.name}: ${test}`, again: () => this.#alone(suite, path, test) }));
    });
    // E.g. a process that a test left behind.
    const failed = found.success && found.exitCode !== 0 ? [`${suite.name}: exit code ${found.exitCode}`] : [];
    return { passed: found.numPassedTests, failed, retries };
  }

  async #alone(suite: { name: string; config: string }, path: string, test?: string): Promise<number> {
    const only = test === undefined ? [] : ['-t', `^${test.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`];
    const found = await this.#jest(suite, ['--maxWorkers=1', ...only, '--runTestsByPath', path]);
    return found?.exitCode === 0 ? found.numPassedTests : 0;
  }

  /** What jest found; undefined where it found nothing. */
  async #jest({ name, config }: { name: string; config: string }, args: readonly string[]) {
    const file = join(this.#results, `${performance.now()}.json`);
    const argv = ['npx', 'jest', '--config', config, '--json', `--outputFile=${file}`, ...args];
    const exitCode = await this.#start(name, argv, { NODE_OPTIONS: '--experimental-vm-modules' });
    try {
      return { ...(JSON.parse(readFileSync(file, 'utf8')) as JestResult), exitCode };
    } catch {
      return undefined;
    }
  }

  /** Resolves with the exit code; null where a signal ended it. */
  #start(name: string, [file, ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number | null> {
    this.#say(`== ${name}, from ${this.elapsedS()} s`);
    return new Promise((resolve) => {
      const child = spawn(file!, args, {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      const said: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => said.push(data));
      const leftMs = Math.max(1, this.#limits.end - this.elapsedS()) * 1000;
      const end = setTimeout(() => child.kill('SIGKILL'), leftMs);
      child.once('error', (error) => said.push(Buffer.from(String(error))));
      // Its output may be held open by what it left behind: that is not waited for, and ended.
      child.once('exit', (code) => {
        clearTimeout(end);
        endGroup(child.pid!);
        // Jest prints its JSON beside the file.
        this.#say(
          Buffer.concat(said)
            .toString()
            .replaceAll(/^\{"num.*$/gm, ''),
        );
        this.#say(`== ${name}: ended at ${this.elapsedS()} s, exit code ${code}`);
        resolve(code);
      });
    });
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The last lines; the very last is the sum. */
export function summary({ passed, failed, blinked, leftOut }: Sum): string[] {
  return [
    ...leftOut.map((what) => `== not run, for want of time: ${what}`),
    ...blinked.map((what) => `== blinked: ${what}`),
    ...failed.map((what) => `== failed: ${what}`),
    `${passed} passed, ${failed.length} failed${leftOut.length > 0 ? `, ${leftOut.length} skipped` : ''}`,
  ];
}
