import type { AgentEvent } from '../domain/event.ts';
import type { Coder } from '../ports.ts';

/** A coder as `config.yaml` declares it; the worker's configuration schema gives this shape. */
export interface CoderDeclaration {
  /** The program and its leading arguments. */
  command?: string[] | undefined;
  protocol?: 'claude' | 'codex' | 'none' | undefined;
  /** More arguments: behind the builtin's own, in front of the prompt. */
  args?: string[] | undefined;
  /** Names of further environment variables that the agent needs. */
  env?: string[] | undefined;
  /** The model where the task names none. */
  model?: string | undefined;
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
  costUsd: number;
}

export function countedIn(events: readonly AgentEvent[]): Counted {
  const counted: Counted = { input: 0, output: 0, cached: 0, costUsd: 0 };
  for (const event of events) if (event.type === 'usage') add(counted, event);
  return counted;
}

export function add(counted: Counted, usage: Omit<Counted, 'costUsd'> & { costUsd?: number }): void {
  counted.input += usage.input;
  counted.output += usage.output;
  counted.cached += usage.cached;
  counted.costUsd += usage.costUsd ?? 0;
}

/** The usage event that brings what was counted to the total, or none where it is there already. */
export function correction(counted: Counted, total: Counted): Extract<AgentEvent, { type: 'usage' }>[] {
  const by = {
    input: total.input - counted.input,
    output: total.output - counted.output,
    cached: total.cached - counted.cached,
    costUsd: total.costUsd - counted.costUsd,
  };
  Object.assign(counted, total);
  return Object.values(by).some((amount) => amount !== 0) ? [{ type: 'usage', ...by }] : [];
}
