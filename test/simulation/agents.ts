import { NO_USAGE, type CoderFailure } from '../../src/domain/agent/event.ts';
import type { AgentOutcome, StopReason } from '../../src/domain/run/outcome.ts';
import type { Asked } from '../../src/domain/people/waiting.ts';
import type { Agent } from './keeper.ts';
import type { Random } from './random.ts';

/** How an agent will behave, decided when it is started; what a `broken` one leaves cannot be verified: each try throws. */
export interface AgentPlan {
  kind: 'good' | 'bad' | 'crash' | 'error' | 'limited' | 'stopped' | 'poison' | 'broken';
  ms: number;
  /** Stopped by its worker at a limit. */
  stopped?: StopReason;
  /** What the coder itself reported. */
  failure?: CoderFailure;
  untilMs?: number;
}

export type Manners = Readonly<Record<AgentPlan['kind'], number>>;

export function planAgent(random: Random, manners: Manners): AgentPlan {
  const kind = random.weighted(manners);
  const ms = random.spread(200, 600_000);
  if (kind === 'stopped')
    return {
      kind,
      ms,
      stopped: random.pick(['stalled', 'timed-out', 'over-budget', 'waiting-for-permission', 'disk', 'killed']),
    };
  if (kind === 'error')
    return { kind, ms, failure: random.pick(['agent-error', 'auth', 'context-overflow', 'over-budget']) };
  if (kind !== 'limited') return { kind, ms: kind === 'poison' ? random.between(100, 5_000) : ms };
  const until = random.pick([undefined, -60_000, 1_000, 90_000, 5 * 3_600_000, 30 * 86_400_000]);
  const failure = random.pick(['rate-limited', 'overloaded'] as const);
  return { kind, ms: Math.min(ms, 20_000), failure, ...(until === undefined ? {} : { untilMs: until }) };
}

/** What its worker reads of the end of it. */
export function outcomeOf({ plan, exit, stopped }: Agent, now: number): AgentOutcome {
  const { failure, untilMs, kind } = plan;
  const at = new Date(now).toISOString();
  const stream = { bytes: 0, sha256: '' };
  return {
    ...{ exitCode: exit?.exitCode ?? null, signal: null, stopped: exit?.stopped ?? stopped, leftover: 0 },
    ...{
      isolation: 'namespace',
      startedAt: at,
      endedAt: at,
      stdout: stream,
      stderr: stream,
      session: null,
      model: null,
    },
    ended: kind === 'crash' || exit?.stopped ? null : { ok: failure === undefined, failure: failure ?? null },
    claim: kind === 'bad' ? 'all is done' : '',
    until: untilMs === undefined ? null : new Date(now + untilMs).toISOString(),
    usage: NO_USAGE,
  };
}

/** What it asks a person. */
export const question = (random: Random): Asked => ({
  ...{ text: 'which?', options: [] },
  ...(random.chance(0.5) ? { default: 'this one', deadlineMs: 3_600_000 } : { default: null, deadlineMs: null }),
});

/** What a person decides on where no receipt shows that the work was done. */
export const WORD = { said: 'Done.', calls: [], callCount: 0, outputs: [], changed: [], unknown: [] };
