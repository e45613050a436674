import type { Client } from '@temporalio/client';
import type { Holds } from '../../activities/worker/claim-holds.ts';
import type { Config } from '../../config.ts';
import { dayOf, spentBudgets, type Spender, type Spent } from '../../domain/scheduling/budget.ts';
import { queueOfClaims, WORKFLOW_TYPE } from '../../domain/names.ts';
import { readRunLine, type RunLine } from '../../domain/view/run-summary.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';

const EVERY_MS = 15_000;
const DEADLINE_MS = 10_000;
const PAGE = 1_000;

export interface BudgetWatch {
  /** The budgets that are used up. */
  spent(): Spent[];
  /** Whether nothing that waits in this claim queue may be claimed now. */
  shut(claimQueue: string): boolean;
  /** Called after each look. */
  onLook(listener: () => void): void;
  stop(): Promise<void>;
}

interface Watched {
  config: Pick<Config, 'budgets' | 'worker'>;
  holds: Holds;
  log(line: string): void;
  client: Client;
  now?: () => number;
}

/**
 * Holds claims of what has used up its budget of the day, by what the server lists of all runs that have ended: one query every
 * fifteen seconds, none where there is no budget. What cannot be asked now changes nothing, but for the date.
 */
export async function startBudgets({ config, holds, log, client, now = Date.now }: Watched): Promise<BudgetWatch> {
  const listeners: (() => void)[] = [];
  let known: Spent[] = [];
  const spent = () => known.filter(({ until }) => Date.parse(until) > now());
  const shuts = ({ queue, repo }: Spent, claimQueue: string) =>
    repo === undefined && (queue === undefined || queue === queueOfClaims(claimQueue));
  const shut = (claimQueue: string) => spent().some((one) => shuts(one, claimQueue));

  const look = async () => {
    const day = dayOf(new Date(now()));
    const before = new Set(spent().map(({ name }) => name));
    const tasks = await tasksSince(client, day.from).catch(() => undefined);
    if (tasks) known = spentBudgets(config.budgets, tasks, day);
    for (const { name, said } of spent())
      if (!before.has(name)) log(`takes no new runs of what is over its budget: ${said}`);
    const all = config.worker.queues.every(shut) ? spent().filter(({ repo }) => repo === undefined) : [];
    holds.set('budget', all.length > 0 ? all.map(({ said }) => said).join('; ') : null);
    for (const listener of listeners) listener();
  };

  if (config.budgets.length === 0)
    return { spent: () => [], shut: () => false, onLook: () => {}, stop: async () => {} };
  await look();
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= look().finally(() => (looking = undefined));
  }, EVERY_MS);
  return {
    spent,
    shut,
    onLook: (listener) => void listeners.push(listener),
    stop: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}

/** The `fleet` of `fleet@machine/coder`. */

async function tasksSince(client: Client, from: Date): Promise<(Spender & { runs: RunLine[] })[]> {
  const open = `ExecutionStatus = 'Running' OR CloseTime >= '${from.toISOString()}'`;
  const query = `WorkflowType = '${WORKFLOW_TYPE}' AND ${ATTRIBUTES.tokens.name} > 0 AND (${open})`;
  return client.withDeadline(Date.now() + DEADLINE_MS, async () => {
    const tasks: (Spender & { runs: RunLine[] })[] = [];
    for await (const { typedSearchAttributes: told } of client.workflow.list({ query, pageSize: PAGE })) {
      const runs = (told.get(ATTRIBUTES.runs) ?? []).flatMap((line) => readRunLine(line) ?? []);
      tasks.push({ queue: told.get(ATTRIBUTES.queue) ?? '', repo: told.get(ATTRIBUTES.repo) ?? null, runs });
    }
    return tasks;
  });
}
