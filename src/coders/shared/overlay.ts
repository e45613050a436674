import type { AgentEvent } from '../../domain/agent/event.ts';
import type { ProtocolName } from '../../domain/task/coder-names.ts';
import type { Coder } from '../../ports.ts';

/** A coder as `config.yaml` declares it; the worker's configuration schema gives this shape. */
export interface CoderDeclaration {
  /** The program and its leading arguments. */
  command?: string[] | undefined;
  protocol?: ProtocolName | undefined;
  /** More arguments: behind the builtin's own, in front of the prompt. */
  args?: string[] | undefined;
  /** Names of further environment variables that the agent needs. */
  env?: string[] | undefined;
  /** The model where the task names none. */
  model?: string | undefined;
  /** For protocol `acp`: ids of the agent's login method and of the session's mode. */
  auth?: string | undefined;
  mode?: string | undefined;
}

/** How a program's output is read. */
export interface Protocol {
  structured: boolean;
  parser: Coder['parser'];
  heartbeat?: NonNullable<Coder['heartbeat']>;
}

/** The tokens and cost that a run's events have counted so far; a correction is relative to it. */
export interface Counted {
  input: number;
  output: number;
  cached: number;
  written?: number;
  reasoning?: number;
  costUsd: number;
}

type UsageEvent = Extract<AgentEvent, { type: 'usage' }>;

const COUNTS = ['input', 'output', 'cached', 'written', 'reasoning', 'costUsd'] as const;
const NOTHING: Counted = { input: 0, output: 0, cached: 0, costUsd: 0 };

export function countedIn(events: readonly AgentEvent[]): Counted {
  const counted = { ...NOTHING };
  for (const event of events) if (event.type === 'usage') add(counted, event);
  return counted;
}

export function add(counted: Counted, usage: Partial<Counted>): void {
  for (const key of COUNTS) if (usage[key]) counted[key] = (counted[key] ?? 0) + usage[key];
}

/** The usage event that brings what was counted to the total, or none where it is there already. `about`: what else it says. */
export function correction(counted: Counted, total: Counted, about: Pick<UsageEvent, 'window'> = {}): UsageEvent[] {
  const amounts = COUNTS.map((key) => [key, (total[key] ?? 0) - (counted[key] ?? 0)] as const);
  const by = { ...NOTHING, ...Object.fromEntries(amounts.filter(([, amount]) => amount !== 0)) };
  Object.assign(counted, { written: 0, reasoning: 0 }, total);
  return amounts.some(([, amount]) => amount !== 0) || about.window ? [{ type: 'usage', ...by, ...about }] : [];
}
