import { keeperIn } from '../test/helpers/live-agents.ts';
import type { TestFleet, TestWorker } from '../test/helpers/fleet.ts';
import { strays } from '../test/helpers/strays.ts';
import { watchPrograms } from './programs.ts';

/** Names of figures in results.json that do not depend on the machine. */
export const EVENTS = 'history events of a delivered task';
export const PROGRAMS = "programs a task, with its agent's 4";

const TASKS = 5;

export interface At {
  worker: TestWorker;
  repo: string;
}

/**
 * History events of a task with the coder `commit`, and by name how often each program was started for one: of some tasks, one after
 * the other. Without strace no programs.
 */
export async function weigh(
  fleet: TestFleet,
  { worker, repo }: At,
): Promise<{ events: number; programs: Map<string, number> | undefined }> {
  const ids: string[] = [];
  const counted = await watchPrograms(await processesOf(worker), async () => {
    for (let i = 0; i < TASKS; i += 1) {
      ids.push(await fleet.fleet.enqueue({ objective: 'x', repo, coder: 'commit' }));
      await fleet.result(ids.at(-1)!);
    }
  });
  const { historyLength } = await fleet.client.workflow.getHandle(ids[0]!).describe();
  return { events: historyLength, programs: counted && new Map([...counted].map(([name, n]) => [name, n / TASKS])) };
}

/** The worker, its helpers, its keeper and the agents. */
export async function processesOf({ home }: TestWorker): Promise<number[]> {
  const keeper = await keeperIn(home);
  return [...new Set([...(await strays(home)), ...(keeper === undefined ? [] : [keeper])])];
}

export const sum = (values: Iterable<number>): number => [...values].reduce((total, one) => total + one, 0);
