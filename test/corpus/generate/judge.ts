import { setTimeout as pause } from 'node:timers/promises';
import { CACHE } from './ecosystems.ts';
import { gzipSync } from 'node:zlib';
import { isSettled, type TaskReport } from '../../../src/client.ts';
import { TestFleet } from '../../helpers/fleet.ts';

/** One result to be judged. */
export interface Judged {
  /** The task's id. */
  id: string;
  repo: string;
  protect: readonly string[];
  /** What the agent does, in its worktree. */
  script: string;
}

/** A real server and workers, to whom results are handed as the work of an agent that is a shell script. */
export class Judge implements AsyncDisposable {
  readonly #fleet: TestFleet;
  readonly #slots: number;
  #workers = 0;

  private constructor(fleet: TestFleet, slots: number) {
    [this.#fleet, this.#slots] = [fleet, slots];
  }

  static async start(slots: number): Promise<Judge> {
    return new Judge(await TestFleet.start(), slots);
  }

  /** Each as a task; `told` hears of each once. */
  async judge(all: readonly Judged[], told: (id: string, report: TaskReport) => void): Promise<void> {
    for (const some of byRoom(all)) {
      // Scripts are in the worker's environment: there is no file of them that isolation could hide from an agent.
      const env = Object.fromEntries(some.map(({ id, script }) => [variable(id), packed(script)]));
      const worker = await this.#fleet.worker(
        `corpus${(this.#workers += 1)}`,
        {
          worker: { slots: this.#slots, coder: 'none', env: Object.keys(env) },
          coders: { none: { command: ['sh', '-c', RUN], protocol: 'none' } },
          limits: { idle: '2m', total: '20m', verify: '8m' },
          sandbox: { read: [CACHE] },
        },
        { env },
      );
      await this.#fleet.fleet.enqueueAll(
        some.map(({ id, repo, protect }) => ({
          id,
          input: {
            ...{ objective: 'Make the tests pass.', repo, coder: 'none', scope: { protect: [...protect] } },
            ...{ env: [variable(id)], retry: { maxAttempts: 1 } },
          },
        })),
      );
      await this.#follow(new Set(some.map(({ id }) => id)), told);
      await worker.stop('SIGKILL');
    }
  }

  /** All are asked for at once and seldom: the machine has other things to do. */
  async #follow(open: Set<string>, told: (id: string, report: TaskReport) => void): Promise<void> {
    while (open.size > 0) {
      await pause(1_000);
      // A server that is starved of CPU answers late: that is no verdict.
      const reports = await this.#fleet.fleet.list({ all: true }).catch(() => []);
      // A question to a person is an answer too: nothing was accepted.
      const asked = reports.filter(({ id, state }) => open.has(id) && state === 'awaiting-approval');
      for (const { id } of asked) {
        open.delete(id);
        told(id, await this.#fleet.fleet.view(id));
      }
      for (const { id } of reports.filter((report) => open.has(report.id) && isSettled(report))) {
        const report = await this.#fleet.settled(id, 60_000).catch(() => undefined);
        if (!report) continue;
        open.delete(id);
        told(id, report);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fleet[Symbol.asyncDispose]();
  }
}

const variable = (id: string): string => `CASE_${id.toUpperCase().replaceAll('-', '_')}`;
const packed = (script: string): string => gzipSync(script).toString('base64');
const RUN = 'cat >/dev/null; eval "$(printenv "CASE_$(printf %s "$FLEET_TASK" | tr a-z- A-Z_)" | base64 -d | gunzip)"';

/** An environment holds 2 MB, and each agent's only its own script. */
const ROOM = 1_000_000;

function byRoom(all: readonly Judged[]): Judged[][] {
  const groups: Judged[][] = [[]];
  let size = 0;
  for (const each of all) {
    const more = packed(each.script).length + variable(each.id).length;
    if (size + more > ROOM) [groups[groups.length], size] = [[], 0];
    groups.at(-1)!.push(each);
    size += more;
  }
  return groups.filter((group) => group.length > 0);
}
