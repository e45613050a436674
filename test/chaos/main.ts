import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootSeconds } from '../../src/adapters/program/process.ts';
import { noMachines } from '../helpers/network.ts';
import { check, type Verdict } from './checker.ts';
import { History } from './history.ts';
import { inspect } from './inspect.ts';
import { rage } from './nemesis.ts';
import { loads, nemesisSteps } from './schedule.ts';
import { Workload } from './workload.ts';
import { CODER_NAMES, World } from './world.ts';

/**
 * Workers, agents and the server under random faults, and a verdict on what the clients and the host saw of it:
 * `npm run chaos -- --seed N --minutes M`. Exit code 1 where a promise was broken; the same seed gives the same schedule.
 */
const SITES = 3;
/** Without a change of any task for so long, what is still open is stuck. */
const NO_PROGRESS_MS = 180_000;
const LOOK_MS = 250;

const { values } = parseArgs({ options: { seed: { type: 'string' }, minutes: { type: 'string', default: '1' } } });
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const minutes = Number(values.minutes);
if (Number.isInteger(seed) && minutes > 0) process.exitCode = await main();
else {
  console.error('--seed must be a whole number, and --minutes a number above 0');
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const missing = noMachines();
  const folder = `${tmpdir()}/fleet-chaos-${seed}-${process.pid}`;
  const root = `${folder}/world`;
  await mkdir(root, { recursive: true });
  const history = new History(`${folder}/history.jsonl`, bootSeconds);
  console.log(`seed ${seed}, ${minutes} min, history ${folder}/history.jsonl`);
  if (missing) console.log(`processes only, no networks and disks: it ${missing}`);

  const world = new World(root, history);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stopped.abort(new Error(`stopped by ${signal}`)));
  try {
    await world.build({ sites: SITES, machines: missing === undefined });
    const workload = new Workload(world);
    await storm(world, workload, stopped.signal);
    await drain(world, workload, stopped.signal);
    await inspect(world, workload);
  } finally {
    await world.demolish();
  }
  const verdict = check(history.entries);
  report(history, verdict);
  // What broke a promise is worth a look at the logs.
  if (verdict.violations.length === 0) await rm(root, { recursive: true });
  return verdict.violations.length ? 1 : 0;
}

async function storm(world: World, workload: Workload, stopped: AbortSignal): Promise<void> {
  const durationMs = minutes * 60_000;
  const over = new AbortController();
  const watching = [workload.watch(over.signal), watchAgents(world, over.signal)];
  const steps = nemesisSteps(seed, { durationMs, sites: SITES, machines: noMachines() === undefined });
  try {
    await Promise.all([
      rage(world, steps, stopped),
      workload.enqueue(loads(seed, { durationMs, coders: CODER_NAMES }), stopped),
    ]);
  } finally {
    over.abort();
    await Promise.all(watching);
  }
}

/** Everything is healed; what was taken in has to come to its end. */
async function drain(world: World, workload: Workload, stopped: AbortSignal): Promise<void> {
  await world.heal();
  workload.changedMs = performance.now();
  const over = new AbortController();
  const watching = [workload.watch(over.signal), watchAgents(world, over.signal)];
  try {
    do await sleep(LOOK_MS, undefined, { signal: stopped });
    while (workload.open.length > 0 && performance.now() - workload.changedMs < NO_PROGRESS_MS);
  } finally {
    over.abort();
    await Promise.all(watching);
  }
}

async function watchAgents(world: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await world.lookAtAgents();
    await world.supervise();
    await sleep(LOOK_MS);
  }
}

function report(history: History, verdict: Verdict): void {
  const { violations, acknowledged, indeterminate, ended, runs, lostRuns, lateSleepers } = verdict;
  const faults = new Map<string, number>();
  for (const entry of history.entries)
    if (entry.kind === 'fault' && !entry.what.endsWith(' over'))
      faults.set(entry.what, (faults.get(entry.what) ?? 0) + 1);
  const list = (counts: Iterable<[string, number | undefined]>) =>
    [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
  console.log(`faults: ${list(faults)}`);
  console.log(
    `tasks: ${acknowledged} acknowledged, ${indeterminate.there} without an answer and there, ${indeterminate.missing} without an answer and not there`,
  );
  console.log(`ended: ${list(Object.entries(ended))}`);
  console.log(`runs: ${runs}, of which ${lostRuns} lost; agents ended after a sleep: ${lateSleepers}`);
  for (const violation of violations) console.log(`VIOLATION ${violation}`);
  console.log(violations.length ? `${violations.length} violations` : 'no violation');
}
