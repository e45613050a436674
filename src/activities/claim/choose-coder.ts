import { setTimeout as pause } from 'node:timers/promises';
import { choicesOf, ruleFor, unmetRoutes, type Choice } from '../../domain/routing/route.ts';
import type { TaskFacts } from '../../domain/task/task-facts.ts';
import { toMs } from '../../domain/values/duration.ts';
import { isOutside } from '../../domain/people/external-agent.ts';
import { isPath } from '../../domain/repository/repository-name.ts';
import type { TriageAsk, ClaimInput } from '../../domain/run/claim.ts';
import { triageByRule, type Triaged } from '../../domain/routing/triage.ts';
import type { Deps } from '../worker/context.ts';

export type Chosen =
  /** For this worker; its coder may not be here where the task itself pins it. */
  | { choice: Choice; triaged?: Triaged }
  /** What was chosen is not here: the task is to be claimed by a worker that has it. */
  | { redirect: Choice; triaged?: Triaged }
  /** It depends on the task's class, which the command has to say first. */
  | { triage: TriageAsk }
  | { none: string };

/** The claim itself has three seconds. */
const LOOK_MS = 1_000;

/**
 * What a run of this task is to use: what the task pins, else the first of this worker's routes that matches, else the worker's
 * default. Of several coders it is the first that is here, or that an attached worker has.
 */
export async function choose(deps: Deps, order: ClaimInput): Promise<Chosen> {
  const { config, worker } = deps;
  // Decided by another worker, which has not what it chose.
  if (order.chosen) return { choice: known(deps, order.chosen) };
  // Nothing runs: any worker can see what was handed in.
  if (order.coder && isOutside(order.coder)) return { choice: { coder: order.coder } };
  const { facts } = order;
  let triaged: Triaged | undefined;
  let found = facts && ruleFor(config.routes, facts);
  if (found === 'triage' && config.triage && facts) {
    const said = triageByRule(config.triage, facts);
    if (said === 'ask') return { triage: triageAsk(deps, config.triage) };
    triaged = said;
    found = ruleFor(config.routes, { ...facts, class: said.class });
  }
  const rule = found === 'triage' ? undefined : found;
  const choices = choicesOf(order, {
    ...{ rule: rule?.rule, index: rule?.index ?? 0 },
    fallback: deps.defaultCoder(),
  });
  const [first] = choices;
  const said = triaged ? { triaged } : {};
  if (!first) return { none: `${worker.name} has no coder at all` };
  const there = choices.filter(({ coder }) => deps.coders.has(coder));
  const here = there.find(({ coder }) => !deps.seats.closed(coder)) ?? there[0];
  if (here) return { choice: here, ...said };
  return order.coder
    ? { none: `${worker.name} has no coder ${order.coder}` }
    : { redirect: await elsewhere(deps, choices, facts), ...said };
}

/** Names of credentials are a worker's own. */
function known({ config }: Deps, { credential, ...choice }: Choice): Choice {
  return credential && config.credentials[credential] ? { ...choice, credential } : choice;
}

/** The first that an attached worker has which could claim the task; where nobody says so in time, the first. */
async function elsewhere(deps: Deps, choices: readonly Choice[], facts: TaskFacts | undefined): Promise<Choice> {
  const [first] = choices;
  const attached = await Promise.race([deps.attached().catch(() => []), pause(LOOK_MS, [], { ref: false })]);
  const able = attached.filter(
    ({ queues, machine }) =>
      (!facts || queues.includes(facts.queue)) && (!isPath(facts?.repo) || machine === deps.worker.machine),
  );
  const coders = new Set(able.flatMap((other) => other.coders.map(({ name }) => name)));
  return choices.find(({ coder }) => coders.has(coder)) ?? first!;
}

const triageAsk = ({ worker }: Deps, triage: { timeout: string; default: string }): TriageAsk => ({
  worker: worker.name,
  hostQueue: worker.hostQueue,
  timeoutMs: toMs(triage.timeout),
  default: triage.default,
});

/** Rules that lead to coders that nobody has, one sentence each: their tasks would wait. */
export async function deadRoutes({ config, coders, attached }: Pick<Deps, 'config' | 'coders' | 'attached'>) {
  if (unmetRoutes(config.routes, coders).length === 0) return [];
  const there = await attached().catch(() => []);
  const others = there.flatMap((other) => other.coders.map(({ name }) => name));
  return unmetRoutes(config.routes, new Set([...coders.keys(), ...others])).map(
    (said) => `${said}, which no attached worker has: its tasks wait until one does`,
  );
}
