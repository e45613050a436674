import { mkdir, writeFile } from 'node:fs/promises';
import { CACHE } from './generate/ecosystems.ts';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { execa } from 'execa';
import { findProgram } from '../../src/adapters/program/find-program.ts';
import { isSettled, type TaskReport } from '../../src/client.ts';
import { git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';
import { OBJECTIVE, CALC, WORDS, type Base, type Case, type End } from './case.ts';

/** What became of one case. `wrong`: why that is not what was expected, one sentence. */
export interface Outcome {
  report: TaskReport;
  accepted: boolean;
  wrong: string | undefined;
}

/** One server and one worker that run every case as a task: all are enqueued at once, each is waited for on its own. */
export class Corpus implements AsyncDisposable {
  readonly #fleet: TestFleet;
  readonly #worker: TestWorker;
  readonly #repos: ReadonlyMap<Base, string>;
  readonly cases: readonly Case[];
  readonly skipped: readonly Case[];

  private constructor(parts: {
    fleet: TestFleet;
    worker: TestWorker;
    repos: ReadonlyMap<Base, string>;
    cases: readonly Case[];
    skipped: readonly Case[];
  }) {
    this.#fleet = parts.fleet;
    this.#worker = parts.worker;
    this.#repos = parts.repos;
    this.cases = parts.cases;
    this.skipped = parts.skipped;
  }

  static async start(all: readonly Case[]): Promise<Corpus> {
    const able = await Promise.all(all.map(canRun));
    const cases = all.filter((_, i) => able[i]);
    const fleet = await TestFleet.start();
    try {
      const repos = new Map<Base, string>();
      for (const base of new Set(cases.map(baseOf)))
        repos.set(base, await makeRepo(base, `${fleet.root}/${base.folder ?? 'repo'}-${repos.size}`));
      const home = `${fleet.root}/corpus`;
      await writeHeldOut(home, cases);
      const scripts = cases.map((each) => {
        const place = { root: fleet.root, home, repo: repos.get(baseOf(each))! };
        return [variable(each), typeof each.agent === 'string' ? each.agent : each.agent(place)] as const;
      });
      const program = (protocol: 'none' | 'claude') => ({ command: ['sh', '-c', RUN], protocol });
      const worker = await fleet.worker(
        'corpus',
        {
          worker: { slots: 3 * availableParallelism(), coder: 'none', env: cases.map(variable) },
          coders: { none: program('none'), claude: program('claude') },
          limits: { idle: '60s', total: '5m', verify: '10m' },
          sandbox: { read: [CACHE] },
        },
        { env: Object.fromEntries(scripts) },
      );
      const corpus = new Corpus({ fleet, worker, repos, cases, skipped: all.filter((_, i) => !able[i]) });
      await corpus.#enqueue();
      return corpus;
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  #enqueue() {
    const orders = this.cases.map((each) => ({
      id: each.name,
      input: {
        ...{ objective: OBJECTIVE, repo: this.#repos.get(baseOf(each))!, coder: each.speaks ?? 'none' },
        ...each.task,
        ...(each.heldOut ? { verify: { heldOut: [{ path: `${each.name}.sh` }] } } : {}),
        ...{ env: [variable(each)], retry: { maxAttempts: 1 } },
      },
    }));
    return this.#fleet.fleet.enqueueAll(orders);
  }

  async outcome(each: Case): Promise<Outcome> {
    // A server that is starved of CPU answers late: that is no verdict.
    const settled = async () => {
      const report = await this.#fleet.fleet.view(each.name).catch(() => undefined);
      if (report?.state === 'awaiting-approval') return report;
      return report && isSettled(report) ? this.#fleet.settled(each.name, 60_000).catch(() => undefined) : undefined;
    };
    const report = await until(settled, { timeoutMs: 1_800_000 });
    const accepted = report.state === 'done';
    const repo = this.#repos.get(baseOf(each))!;
    const end: End = {
      ...{ report, repo, root: this.#fleet.root, home: this.#worker.home },
      git: (...args) => git(repo, ...args),
      delivered: (path) => git(repo, 'show', `${report.commit}:${path}`).catch(() => undefined),
    };
    const after = await each.after?.(end);
    return { report, accepted, wrong: unlike(each, report) ?? after };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fleet[Symbol.asyncDispose]();
  }
}

/** The script lies in the worker's environment: there is no file of it that isolation could hide from its agent. */
const RUN = `${WORDS}\neval "$(printenv "CASE_$(printf %s "$FLEET_TASK" | tr a-z- A-Z_)")"`;
const variable = ({ name }: Case): string => `CASE_${name.toUpperCase().replaceAll('-', '_')}`;
const baseOf = ({ base }: Case): Base => base ?? CALC;

async function writeHeldOut(home: string, cases: readonly Case[]): Promise<void> {
  await mkdir(`${home}/held-out`, { recursive: true });
  for (const { name, heldOut } of cases) if (heldOut) await writeFile(`${home}/held-out/${name}.sh`, heldOut);
}

async function canRun({ needs = [] }: Case): Promise<boolean> {
  const found = await Promise.all(needs.map((program) => findProgram(program, process.env)));
  return found.every(Boolean);
}

async function makeRepo({ files, make = '', later = '' }: Base, dir: string): Promise<string> {
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_NAME: 'T', GIT_AUTHOR_EMAIL: 't@localhost' };
  const committer = { GIT_COMMITTER_NAME: 'T', GIT_COMMITTER_EMAIL: 't@localhost' };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(`${dir}/${path}`), { recursive: true });
    await writeFile(`${dir}/${path}`, text);
  }
  const script = `git init -q -b main\n${make}\ngit add -A\ngit commit -q -m Base\n${later}`;
  await execa('sh', ['-ec', script], { cwd: dir, env: { ...env, ...committer } });
  return dir;
}

/** How the task's end differs from what was expected, as one sentence. */
function unlike({ expect }: Case, { state, reason, message }: TaskReport): string | undefined {
  const seen =
    state === 'done'
      ? 'it was accepted'
      : state === 'awaiting-approval'
        ? 'a person was asked'
        : `it was rejected: ${reason}: ${message}`;
  if (expect === 'asked') return state === 'awaiting-approval' ? undefined : seen;
  if (expect === 'done') return state === 'done' ? undefined : seen;
  const reasons = [expect.reason].flat();
  if (state !== 'parked' || !reason || !reasons.includes(reason)) return `${seen}; expected ${reasons.join(' or ')}`;
  if (expect.says && !expect.says.test(message ?? '')) return `${seen}; expected words like ${expect.says}`;
  return undefined;
}
