/** Everything that chance decides, from one seed: the same seed gives the same schedule. */

/** 0 ≤ x < 1; mulberry32. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

export const PROCESS_FAULTS = [
  'worker-kill',
  'worker-term',
  'worker-stop',
  'keeper-kill',
  'keeper-term',
  'agent-kill',
  'agent-stop',
] as const;
export const MACHINE_FAULTS = [
  'machine-kill',
  'machine-sleep',
  'cut',
  'mute',
  'deaf',
  'refused',
  'lossy',
  'slow',
  'flap',
  'disk-full',
] as const;
export type SiteFault = (typeof PROCESS_FAULTS)[number] | (typeof MACHINE_FAULTS)[number];

export type Step = { atMs: number; holdMs: number } & (
  | { fault: SiteFault; site: number; choice: number }
  | { fault: 'server-kill' }
);

export interface Load {
  atMs: number;
  coder: string;
  remote: boolean;
  /** Cancel it so long after; null: do not. */
  cancelMs: number | null;
}

/** From a blink to well beyond the lease. */
const HOLDS_MS = [300, 3_000, 10_000, 20_000, 40_000];

export function nemesisSteps(seed: number, options: { durationMs: number; sites: number; machines: boolean }): Step[] {
  const random = randomOf(seed);
  const faults: readonly SiteFault[] = options.machines ? [...PROCESS_FAULTS, ...MACHINE_FAULTS] : PROCESS_FAULTS;
  const steps: Step[] = [];
  for (let atMs = 4_000; atMs < options.durationMs; atMs += 1_000 + random() * 8_000) {
    const holdMs = pick(random, HOLDS_MS);
    if (random() < 0.1) steps.push({ atMs, holdMs: Math.min(holdMs, 10_000), fault: 'server-kill' });
    else
      steps.push({
        ...{ atMs, holdMs, fault: pick(random, faults) },
        ...{ site: Math.floor(random() * options.sites), choice: random() },
      });
  }
  return steps;
}

export function loads(seed: number, options: { durationMs: number; coders: readonly string[] }): Load[] {
  const random = randomOf(seed ^ 0x5eed);
  const found: Load[] = [];
  for (let atMs = 0; atMs < options.durationMs; atMs += 500 + random() * 4_500)
    found.push({
      atMs,
      coder: pick(random, options.coders),
      remote: random() < 0.5,
      cancelMs: random() < 0.15 ? random() * 20_000 : null,
    });
  return found;
}
