import { z } from 'zod';
import { toBytes } from '../values/bytes.ts';
import { parseDuration, toMs } from '../values/duration.ts';
import { DEFAULT_RESTORE, type Restore } from './protected-paths.ts';
import type { Narrowing, NetworkUse } from '../task/network.ts';
import { idleFault } from '../task/validation.ts';
import { pathsOf } from '../artifact/artifact.ts';
import { type Artifact, globs } from '../artifact/artifact-schema.ts';
import { reach } from '../task/network-schema.ts';
import { protect, protectBoth, type NewProtected } from '../task/protect.ts';
import { limits, review, scope, submodules, verify, type HeldOut, type Review, type Task } from '../task/schema.ts';
import { verifyBoth } from './merge-verify.ts';
import { inFolder } from './working-folder.ts';

/** `.fleet.yaml` at the root of a repository, read from the base commit. */
export const repoFile = z.strictObject({
  /** Commands that make a fresh checkout ready, e.g. `npm ci`. */
  setup: z.array(z.string().trim().min(1).max(4_000)).default([]),
  /** Ignored files that a worktree needs, as globs relative to the user's checkout. */
  copy: globs.default([]),
  submodules: submodules.optional(),
  verify: verify.optional(),
  review: review.optional(),
  protect: protect.optional(),
  scope: scope.default({}),
  limits: limits.default({}),
  /** No more than this of what the worker lets them reach. */
  network: z.strictObject({ agents: reach.optional(), setup: reach.optional(), checks: reach.optional() }).default({}),
  /** Instead of the defaults of `protected.ts`: what acceptance sees as in the base where a task names no scope. */
  restore: z.strictObject({ tests: globs.optional(), config: globs.optional() }).optional(),
});
export type RepoFile = z.output<typeof repoFile>;
/** A repository that has none, or is not known yet. */
export const NO_FILE: RepoFile = repoFile.parse({});

/**
 * The commit whose `.fleet.yaml` holds for a task that starts from `start`. A follow-up may start from its parent's result, which
 * an agent wrote: it keeps to the base that it was handed off with.
 */
export const ruledAt = ({ parent, base }: Pick<Task, 'parent' | 'base'>, start: string): string =>
  parent !== undefined && base !== undefined ? base : start;

/** What holds for one run: the task over `.fleet.yaml` over the worker's defaults. */
export interface Policy {
  setup: string[];
  copy: string[];
  /** Globs of the submodules that are checked out; null: all. */
  submodules: string[] | null;
  verify: string[];
  /** What the verification asks beyond the commands' exit codes. */
  checks: {
    failToPass: string[];
    control: boolean;
    retries: number;
    results: string[];
    heldOut: HeldOut[];
    challenge: 'auto' | 'off';
    where: 'here' | 'other';
  };
  review: Review | null;
  /** A schema's path is replaced by what it holds before a run begins. */
  artifacts: Artifact[];
  /** Every list must allow a path; no list allows all. An empty list allows nothing: the task is read-only. */
  allow: string[][];
  protect: string[];
  /** What becomes of a file below `protect` that the base has not. */
  newProtected: NewProtected;
  /** Files of no scope's that acceptance sees as in the base, see `protected.ts`. */
  restore: readonly Restore[];
  /** What somebody allows of what the worker lets be reached; missing: all of it. */
  network: Partial<Record<NetworkUse, Narrowing[]>>;
  limits: {
    totalMs: number;
    idleMs: number;
    verifyMs: number;
    tokens?: number;
    costUsd?: number;
    /** The agent's memory and that of everything that it started, where cgroups can be written. */
    memoryBytes?: number;
    processes: number;
    /** The size of the run's work folder. */
    diskBytes: number;
  };
}

export const DEFAULT_LIMITS = { total: '2h', idle: '10m', verify: '15m', processes: 4096, disk: '20GB' } as const;

/** What of a task its policy is made from. */
export type PolicyTask = Pick<
  Task,
  'type' | 'repo' | 'cwd' | 'submodules' | 'parent' | 'scope' | 'artifacts' | 'verify' | 'review' | 'limits' | 'network'
>;

type Limits = z.output<typeof limits>;
/** With what is there only. */
type Said = { [K in keyof Limits]: Exclude<Limits[K], undefined> };

/** What the worker says: for all tasks, and by the route of this one. */
interface WorkerLimits {
  limits?: Limits;
  routed?: Limits;
}

/** The task's own limits win, then the tighter of its route's and what `.fleet.yaml` or else the worker says, then our defaults. */
function mergeLimits(task: Pick<Task, 'limits'>, file: RepoFile, worker: WorkerLimits) {
  const said = { ...defined(worker.limits ?? {}), ...defined(file.limits) };
  const asked = { ...tighter(said, defined(worker.routed ?? {})), ...defined(task.limits) };
  // A run whose agent may take five minutes holds no slot for the fifteen of a test that never ends.
  const { total = DEFAULT_LIMITS.total } = asked;
  const verify = toMs(total) < toMs(DEFAULT_LIMITS.verify) ? total : DEFAULT_LIMITS.verify;
  return { ...DEFAULT_LIMITS, verify, ...asked };
}

export function mergePolicy(task: PolicyTask, file: RepoFile, worker: WorkerLimits = {}): Policy {
  const merged = mergeLimits(task, file, worker);
  const verify = verifyAtTop(task);
  const own = { ...defined(file.verify ?? {}), ...defined(verify ?? {}) };
  // A follow-up adds to what its repository asks for, and takes nothing of it away.
  const asked = task.parent === undefined ? own : (verifyBoth(file.verify, verify) ?? {});
  const protect = protectBoth(file.protect, file.scope.protect, task.scope.protect);
  const { commands = [], failToPass = [], retries = 0, results = [], heldOut = [] } = asked;
  const { challenge = 'auto', where = 'here' } = asked;
  return {
    setup: file.setup,
    copy: file.copy,
    submodules: wantedSubmodules(task, file),
    verify: commands,
    checks: {
      ...{ failToPass, control: asked.control ?? failToPass.length > 0, retries, results },
      ...{ heldOut, challenge, where },
    },
    review: task.review ?? file.review ?? null,
    artifacts: task.artifacts,
    allow: [file.scope.allow, allowedBy(task)].filter((list) => list !== undefined),
    protect: protect.paths ?? [],
    newProtected: protect.new ?? 'set-aside',
    restore: file.restore ? [{ tests: [], config: [], ...defined(file.restore) }] : DEFAULT_RESTORE,
    network: narrowed(task, file),
    limits: {
      totalMs: toMs(merged.total),
      idleMs: toMs(merged.idle),
      verifyMs: toMs(merged.verify),
      ...(merged.tokens ? { tokens: merged.tokens } : {}),
      ...(merged.costUsd ? { costUsd: merged.costUsd } : {}),
      ...(merged.memory ? { memoryBytes: toBytes(merged.memory) } : {}),
      processes: merged.processes,
      diskBytes: toBytes(merged.disk),
    },
  };
}

function narrowed({ network }: Pick<Task, 'network'>, file: RepoFile): Policy['network'] {
  const byFile = Object.entries(defined(file.network)).map(([use, reach]): [string, Narrowing[]] => [
    use,
    [{ by: `network.${use} of .fleet.yaml`, reach }],
  ]);
  const said: Policy['network'] = Object.fromEntries(byFile);
  return network ? { ...said, agents: [...(said.agents ?? []), { by: 'network of the task', reach: network }] } : said;
}

/** Globs; null: all of them. */
export function wantedSubmodules(task: Pick<Task, 'submodules'>, file: Pick<RepoFile, 'submodules'>): string[] | null {
  const said = task.submodules ?? file.submodules ?? 'all';
  return said === 'all' ? null : said === 'none' ? [] : said;
}

/** The task's own commands run in its folder, those of `.fleet.yaml` at the top. */
function verifyAtTop({ verify, cwd }: PolicyTask): Task['verify'] {
  if (!verify?.commands) return verify;
  return { ...verify, commands: verify.commands.map((command) => inFolder(cwd, command)) };
}

/**
 * Whether an agent would be out of time before it is taken for idle, as one sentence. A total that was said closer to the task
 * than idle, or beside it, only makes that idle needless.
 */
export function limitsFault(task: Pick<Task, 'limits'>, file: RepoFile, worker: WorkerLimits = {}): string | undefined {
  const { total, idle } = mergeLimits(task, file, worker);
  const sources: { of: string; rank: number; limits: Limits }[] = [
    { of: 'of the task', rank: 3, limits: task.limits },
    { of: 'of .fleet.yaml', rank: 2, limits: file.limits },
    { of: 'of its route', rank: 2, limits: worker.routed ?? {} },
    { of: 'of the worker', rank: 1, limits: worker.limits ?? {} },
  ];
  const ours = { of: 'by default', rank: 0 };
  const totalOf = sources.find(({ limits }) => limits.total === total) ?? ours;
  const idleOf = sources.find(({ limits }) => limits.idle === idle) ?? ours;
  if (idleOf !== totalOf && idleOf.rank <= totalOf.rank) return undefined;
  const fault = idleFault({ total, idle }, { totalOf: ` (${totalOf.of})`, idleOf: ` (${idleOf.of})` });
  return fault && `limits ${fault}`;
}

function tighter(said: Said, routed: Said): Said {
  const size = (value: string | number): number =>
    typeof value === 'number' ? value : (parseDuration(value) ?? toBytes(value));
  const won = Object.entries(routed).filter(([key, value]) => {
    const other = said[key as keyof Limits];
    return other === undefined || size(value) < size(other);
  });
  return { ...said, ...(Object.fromEntries(won) as Said) };
}

/**
 * What the task itself lets be changed; undefined: all. To be told to look is no leave to change: a task of another type than
 * `code` that names nothing leaves its repository alone. Outputs that it declares may always be left.
 */
function allowedBy({ type, repo, scope: { allow }, artifacts }: PolicyTask): string[] | undefined {
  const outputs = pathsOf(artifacts);
  if (allow) return [...allow, ...outputs];
  return type === 'code' || !repo ? undefined : outputs;
}

/** What cannot be meant, as one sentence; undefined where all is well. */
export function checkPolicy({ verify, checks }: Policy): string | undefined {
  const { failToPass, control, retries, heldOut, where } = checks;
  const asked = Object.entries({ failToPass: failToPass.length > 0, control, retries: retries > 0 }).find(
    ([, on]) => on,
  );
  if (asked && verify.length === 0) return `verify.${asked[0]} needs verify.commands, of the task or of .fleet.yaml`;
  if (where === 'other' && verify.length === 0 && heldOut.length === 0)
    return 'verify.where: other needs verify.commands or verify.heldOut, of the task or of .fleet.yaml';
  return undefined;
}

function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as never;
}
