import { homedir } from 'node:os';
import { ApplicationFailure } from '@temporalio/activity';
import { within } from '../../adapters/paths.ts';
import type { IsolationPlan } from '../../adapters/sandbox/plan.ts';
import { KeeperLost, type KeeperClient } from '../../adapters/keeper/client.ts';
import type { RunEnd } from '../../adapters/keeper/protocol.ts';
import type { Keys } from '../../adapters/secrets/worker-keys.ts';
import type { ProxyClient } from '../../adapters/proxy/client.ts';
import type { Ledger } from '../../adapters/state/ledger.ts';
import type { Prepared, RunRecord, RunRegistry } from '../../adapters/state/run-registry.ts';
import type { DrainCounts } from '../../adapters/state/drain-counts.ts';
import type { KnownSecrets } from '../../adapters/secrets/known-secrets.ts';
import type { Config } from '../../config.ts';
import type { Spent } from '../../domain/scheduling/budget.ts';
import type { HomeLayout } from '../../domain/names.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Isolation, StopReason } from '../../domain/run/outcome.ts';
import type { AgentStart, Coder } from '../../ports.ts';
import type { Presence } from './presence.ts';
import type { Holds } from './claim-holds.ts';
import type { Attached, RollbackCheck, Disk, SeatServices, Fitness } from './services.ts';
import type { Programs } from './programs.ts';

/** All that the activities of one worker process work with; made once by the composition root. */
export interface Deps {
  home: HomeLayout;
  config: Config;
  worker: { name: string; machine: string; hostQueue: string; queues: string[]; startedAt: string; version: string };
  /** All coders that are built in or configured: to read what a live agent says, its program need not be there. */
  knownCoders: ReadonlyMap<string, Coder>;
  /** Coders whose program is on this machine now, with the version that it told, if it did. */
  coders: ReadonlyMap<string, { coder: Coder; version: string | null }>;
  /** Used where a task pins none. */
  defaultCoder(): string | undefined;
  registry: RunRegistry;
  keeper: KeeperClient;
  proxy: ProxyClient;
  isolation: Isolation;
  /** Whether this worker may still act for its runs: it has proved contact within the self-kill deadline. */
  inContact(): boolean;
  /** Homes of other workers on this machine, which no agent of this one may see. */
  otherHomes(): string[];
  /** Why this worker takes no new work; runs go on. */
  holds: Holds;
  programs: Programs;
  /** Budgets that are used up. */
  budgets: { spent(): Spent[] };
  disk: Disk;
  fitness: Fitness;
  /** The seats of its credentials. */
  seats: SeatServices;
  /** For whoever looks after this worker. */
  log(line: string): void;
  /** Whether the worker's record attends to it. */
  presence: Presence;
  /** The workers that are attached now, by their records, and take new work. */
  attached(): Promise<Attached[]>;
  /** What became of the runs that it took in. */
  tally: DrainCounts;
  /** `<address>/<namespace>` */
  server: string;
  /** Identity of the server's database: a new one has another id. */
  serverId: string;
  ledger: Ledger;
  rollback: RollbackCheck;
  keys: Keys;
  /** What is masked wherever anything of a run is written. */
  secrets: KnownSecrets;
  /** The worker's own environment: what agents and commands see of it is an allow-list. */
  env: NodeJS.ProcessEnv;
}

/** The record of a run, or a refusal: an activity of an older epoch has no effect here. */
export function requireRun(deps: Deps, ref: RunRef): RunRecord {
  const record = deps.registry.find(ref);
  if (!record)
    throw ApplicationFailure.nonRetryable(
      `run ${ref.runId} of ${ref.taskId} is not held by ${deps.worker.name}`,
      'UnknownRun',
    );
  return record;
}

export function requirePrepared(deps: Deps, ref: RunRef): RunRecord & { prepared: Prepared } {
  const record = requireRun(deps, ref);
  if (!record.prepared) throw ApplicationFailure.nonRetryable(`run ${ref.runId} has no worktree`, 'UnknownRun');
  return { ...record, prepared: record.prepared };
}

/** Stops what lives of a run, and waits until nothing of it does. Harmless where nothing lives. */
export async function endRun(
  { keeper }: Pick<Deps, 'keeper'>,
  { taskId, runId }: RunRef,
  reason: StopReason,
): Promise<void> {
  const ref = { taskId, runId };
  await keeper.stop({ ...ref, reason }).catch(unlessLost);
  await endOf(keeper, ref);
  await keeper.forget(ref).catch(unlessLost);
}

/**
 * How a run ended, once it has. Where its keeper is lost meanwhile, the next one knows from the disk; after `left`,
 * nobody is asked any more.
 */
export async function endOf(keeper: KeeperClient, ref: RunRef, left?: AbortSignal): Promise<RunEnd> {
  for (;;) {
    const end = await keeper.wait(ref).catch(unlessLost);
    if (end) return end;
    left?.throwIfAborted();
  }
}

/** A lost keeper's agents died with it: asking again tells. */
export function unlessLost(error: unknown): undefined {
  if (!(error instanceof KeeperLost)) throw error;
}

/** What the agent and the setup commands of a run may see and write. `files`: what a coder has put in place before. */
export function isolationPlan(
  deps: Deps,
  ref: RunRef,
  { baseDir, sealed, files }: Pick<Prepared, 'baseDir' | 'sealed'> & { files?: AgentStart['files'] },
): IsolationPlan {
  const { work, tmp } = deps.home.run(ref.taskId, ref.runId);
  const show = [
    { path: work, readOnly: false },
    { path: baseDir, readOnly: true },
  ];
  return coderPlan(deps, { show, tmp, sealed, ...(files ? { files } : {}) });
}

/** What a coder's program may see and write, for whatever it is started: of the user's HOME, only what its links lead to. */
export function coderPlan(
  deps: Pick<Deps, 'home' | 'isolation' | 'otherHomes' | 'env' | 'config'>,
  plan: Required<Pick<IsolationPlan, 'show' | 'tmp'>> & Pick<Prepared, 'sealed'> & { files?: AgentStart['files'] },
): IsolationPlan {
  const { home, isolation, otherHomes } = deps;
  const { show, tmp, sealed, files = {} } = plan;
  const links = Object.values(files).flatMap((file) =>
    'link' in file && !show.some(({ path }) => within(path, file.link)) ? [file] : [],
  );
  const { read, write } = listed(deps);
  // The user's checkout stays as it is, whatever the owner lists.
  const kept = sealed.filter((folder) => write.some((path) => within(path, folder)));
  return {
    ...{ isolation, home: home.root, hide: otherHomes(), show, tmp },
    read: [...read, ...kept, ...links.flatMap((file) => (file.login ? [] : [file.link]))],
    write: [...write, ...links.flatMap((file) => (file.login ? [file.link] : []))],
  };
}

/** What this worker's owner lets every agent read and write outside of its run; `~` is the worker's HOME. */
export function listed({ config, env }: Pick<Deps, 'config' | 'env'>): { read: string[]; write: string[] } {
  const inHome = (paths: readonly string[]) =>
    paths.map((path) => path.replace(/^~(?=\/|$)/, env['HOME'] ?? homedir()));
  return { read: inHome(config.sandbox.read), write: inHome(config.sandbox.write) };
}

export const missing = ({ worker }: Deps, coder: string): Failure => ({
  reason: 'coder-missing',
  message: `the program of coder ${coder} is not on ${worker.name}`,
});
