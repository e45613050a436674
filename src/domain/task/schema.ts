import { z } from 'zod';
import { parseBytes } from '../values/bytes.ts';
import { parseDuration } from '../values/duration.ts';
import { DEFAULT_QUEUE, ID_MAX, isTaskId } from '../names.ts';
import { artifact, globs } from '../artifact/artifact-schema.ts';
import { reach } from './network-schema.ts';
import { protect } from './protect.ts';

/** What a person may ask for. One schema for the CLI, a YAML file, `temporal workflow start` and the workflow itself. */

export const TASK_TYPES = ['code', 'research', 'browser', 'message', 'review'] as const;
export type TaskType = (typeof TASK_TYPES)[number];

/** Beyond it timers of 32 bits fire at once. */
const LONGEST_MS = 20 * 86_400_000;

export const duration = z
  .string()
  .refine((text) => (parseDuration(text) ?? 0) > 0, { error: 'must be a duration such as 90s, 10m or 2h' })
  .refine((text) => (parseDuration(text) ?? 0) <= LONGEST_MS, { error: 'must be 20d at most' });

/** `500MB`, `4GiB`; decimal and binary units. */
export const bytes = z
  .string()
  .refine((text) => (parseBytes(text) ?? 0) > 0, { error: 'must be a size such as 500MB or 4GiB' });

export const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/, {
  error: 'must be letters, digits, ".", "_" or "-", 40 characters at most',
});
export const variables = z.array(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be names of environment variables' }),
);
const line = z.string().regex(/^[^\n\r\0]+$/, { error: 'must be one line' });
const taskId = z
  .string()
  .refine(isTaskId, { error: `must be the id of a task: lower-case words, ${ID_MAX} characters at most` });
export const branch = z.string().regex(/^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|\.lock$|\/$))[^\s\0~^:?*[\\]{1,200}$/, {
  error: 'must be the name of a branch',
});
const ref = z.string().regex(/^(?!-)[^\s\0~^:?*[\\]{1,200}$/, { error: 'must be a branch, tag or commit' });
const command = z.string().trim().min(1, { error: 'must not be empty' }).max(4_000);

/** A script that the agent never sees: in `$FLEET_HOME/held-out` of the verifying worker, or sealed to it by `fleet seal`. */
export const heldOut = z
  .strictObject({
    path: line
      .max(200)
      .regex(/^(?!\/)(?!.*(^|\/)\.\.?(\/|$))/, {
        error: 'must be relative to held-out in the FLEET_HOME of the worker',
      })
      .optional(),
    sealed: z
      .string()
      .trim()
      .startsWith('-----BEGIN AGE ENCRYPTED FILE-----', { error: 'must be what `fleet seal` printed' })
      .max(200_000)
      .optional(),
  })
  .refine(({ path, sealed }) => (path === undefined) !== (sealed === undefined), {
    error: 'must have either path or sealed',
  });
export type HeldOut = z.output<typeof heldOut>;

/** What must hold of the result in a fresh checkout; a bare list is short for `{ commands }`. */
export const verify = z.preprocess(
  (value) => (Array.isArray(value) ? { commands: value } : value),
  z.strictObject({
    commands: z.array(command).max(20).optional(),
    /** Names of tests that must pass now and do not on the base. */
    failToPass: z.array(line.max(500)).max(100).optional(),
    /** Whether the commands must fail on the base: else they prove nothing. Default: where `failToPass` names tests. */
    control: z.boolean().optional(),
    /** How often failed commands are run again before they count as failed. */
    retries: z.int().min(0).max(5).optional(),
    /** Globs of JUnit XML files that the commands write, for a test runner that is not known. */
    results: globs.optional(),
    heldOut: z.array(heldOut).max(10).optional(),
    /** Whether the author's tests run once more with expectations turned wrong: where they can be. */
    challenge: z.enum(['auto', 'off']).optional(),
    /** `other`: a second worker has to come to the same verdict. */
    where: z.enum(['here', 'other']).optional(),
  }),
);

/** Another agent that may say no, before the run or after it; its yes suffices for nothing. */
export const review = z.strictObject({
  coder: name,
  model: line.max(100).optional(),
  /** Also before the run: is the objective clear, allowed, and within the scope? */
  gate: z.boolean().default(false),
  timeout: duration.default('15m'),
});
export type Review = z.output<typeof review>;

export const limits = z.strictObject({
  total: duration.optional(),
  idle: duration.optional(),
  verify: duration.optional(),
  tokens: z.int().positive().optional(),
  costUsd: z.number().positive().optional(),
  memory: bytes.optional(),
  processes: z.int().min(8).max(1_000_000).optional(),
  disk: bytes.optional(),
});

/** What an agent may do through the tools of ours, besides its work. */
export const AGENT_TOOLS = ['ask_human', 'propose'] as const;
export type AgentTool = (typeof AGENT_TOOLS)[number];

/** Who hears of a task's end, once: a task gets it into its next run's prompt. */
export const callback = z.strictObject({
  task: taskId.optional(),
  webhook: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  /** By the `alerts` of the worker that tells. */
  message: z.boolean().optional(),
});

/** How a pull request is made, and what the task waits for. */
export const pullRequest = z.strictObject({
  draft: z.boolean().default(false),
  labels: z.array(line.max(50)).max(20).default([]),
  /** `opened`: the task is done with it; `green`: once its checks have passed; `merged`: once a person has merged it. */
  until: z.enum(['opened', 'green', 'merged']).default('green'),
  /** How often red checks or requested changes go back to the agent. */
  tries: z.int().min(0).max(20).default(3),
});

/** Which of a repository's submodules are checked out, for its agent and in verification. */
export const submodules = z.union([z.enum(['all', 'none']), globs], {
  error: 'must be all, none, or globs of the submodules that are needed',
});

export const scope = z.strictObject({ allow: globs.optional(), protect: protect.optional() });

export const taskInput = z.strictObject({
  objective: z
    .string({ error: ({ input }) => (input === undefined ? 'is required: say what the agent should do' : undefined) })
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(100_000),
  title: line.max(120).optional(),
  type: z.enum(TASK_TYPES).default('code'),
  /** A path on the machine `machine`, or a URL that git can fetch. */
  repo: line
    .max(1_000)
    .refine((repo) => !/^(https?|ftps?):\/\/[^/]*@/i.test(repo) && !/^[a-z+.-]+:\/\/[^/]*:[^/]*@/i.test(repo), {
      error: 'must not carry a user name or password, which would stay in the history: use a credential helper',
    })
    .optional(),
  /** Where a path repository lives; the CLI fills it in. */
  machine: name.optional(),
  /** The folder that the task's own `verify` commands run in, relative to the repository's top; the CLI fills it in. */
  cwd: line
    .max(500)
    .regex(/^(?!\/)(?!.*(^|\/)\.(\.|git)(\/|$))/i, {
      error: 'must be a folder of the repository, relative to its top, such as packages/web',
    })
    .optional(),
  /** A ref or commit; the CLI resolves it to a commit. */
  base: ref.optional(),
  /** Unfinished work on the base, or beside it, to go on from: a ref or commit; the CLI resolves it. All of it is judged. */
  continueFrom: ref.optional(),
  queue: name.default(DEFAULT_QUEUE),
  coder: name.optional(),
  model: line.max(100).optional(),
  /** Name of a credential of the worker; unset: any of the coder's. */
  credential: name.optional(),
  /** 0 is critical, 100 can wait. */
  priority: z.int().min(0).max(100).default(50),
  scope: scope.default({}),
  submodules: submodules.optional(),
  verify: verify.optional(),
  review: review.optional(),
  artifacts: z.array(artifact).max(200).default([]),
  limits: limits.default({}),
  retry: z
    .strictObject({ maxAttempts: z.int().min(1).max(100).default(3), backoff: duration.default('30s') })
    .prefault({}),
  /** Whether a retry starts from the work that the last run left; unset: as `FAILURES` says for its reason. */
  resume: z.boolean().optional(),
  deliver: z.enum(['branch', 'pr', 'merge', 'none']).default('branch'),
  /** The branch that `pr` and `merge` are for; unset: the default branch. */
  into: branch.optional(),
  pr: pullRequest.prefault({}),
  /** Tasks that come first. In the same repository their results are what it starts from. */
  dependsOn: z.array(taskId).max(100).default([]),
  /** What becomes of it when one of them fails or is parked: `cancel` closes it, `run` goes on without. */
  onDependencyFailure: z.enum(['wait', 'cancel', 'run']).default('wait'),
  /** `serialize`: not while another such task of the repository runs whose `scope.allow` overlaps. */
  overlap: z.enum(['allow', 'serialize']).default('allow'),
  /** When a person has to say yes. */
  approval: z.enum(['before-run', 'before-deliver', 'both', 'never']).default('never'),
  /** Waits for an agent outside the fleet, of this name. */
  for: name.optional(),
  /** Who wants it: producers share the workers fairly. Unset: repositories do. */
  producer: line.max(60).optional(),
  /** Waiting for so long makes it as urgent as one with 20 less. */
  ageing: duration.default('1h'),
  /** The task that it was handed off by: nothing of it may be wider than of that one. */
  parent: taskId.optional(),
  /** An agent proposed it, and it waits for a yes only because no rule allows its kind. */
  proposed: z.literal(true).optional(),
  /** What the one who handed it off passes on. */
  context: z.string().max(20_000).optional(),
  callback: callback.optional(),
  agentTools: z.array(z.enum(AGENT_TOOLS)).default([...AGENT_TOOLS]),
  labels: z.array(line.max(60)).max(20).default([]),
  /** Names of the worker's environment variables that the agent may see. */
  env: variables.default([]),
  /** No more than this of what the worker lets its agent reach. */
  network: reach.optional(),
});

/** As people write it. */
export type TaskInput = z.input<typeof taskInput>;
/** As everything else reads it: defaults filled in, except the limits, scope and verify that a repository may still add to. */
export type Task = z.output<typeof taskInput>;
