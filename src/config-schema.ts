import { hostname } from 'node:os';
import { z } from 'zod';
import { toBytes } from './domain/values/bytes.ts';
import { budgetFaults, budgets } from './domain/scheduling/budget.ts';
import { channelFaults, channels } from './domain/people/channel.ts';
import { BUILTIN_CODERS, PROTOCOL_NAMES } from './domain/task/coder-names.ts';
import { models, prices } from './domain/routing/rates-schema.ts';
import { credentialFaults, credentials } from './domain/routing/credential.ts';
import { formatDuration, toMs } from './domain/values/duration.ts';
import { github } from './domain/repository/github.ts';
import { handOff } from './domain/people/follow-up-limits.ts';
import { IRREVERSIBLE_COMMANDS, PROTECTED_BRANCHES } from './domain/people/irreversible.ts';
import { DEFAULT_QUEUE } from './domain/names.ts';
import { reach } from './domain/task/network-schema.ts';
import { backlog, patrol } from './domain/produce/patrol.ts';
import { DEFAULT_LIMITS } from './domain/repository/repo-policy.ts';
import { routeFaults, routes } from './domain/routing/route.ts';
import { bytes, duration, limits, name, taskInput, variables } from './domain/task/schema.ts';
import { globs } from './domain/artifact/artifact-schema.ts';
import { idleFault } from './domain/task/validation.ts';
import { triage, triageFaults } from './domain/routing/triage.ts';
import { wildcard } from './domain/task/wildcard-schema.ts';

const text = z.string().min(1, { error: 'must not be empty' });
const folders = z
  .array(z.string().regex(/^(~|~?\/[^\0]+)$/, { error: 'must be an absolute path, or one below ~' }))
  .max(200);
const argv = z.array(text).min(1, { error: 'must have at least one part' });
const queues = z.array(name).max(50);

export const coder = z.strictObject({
  command: argv.optional(),
  protocol: z.enum(PROTOCOL_NAMES).optional(),
  args: z.array(z.string()).optional(),
  env: variables.optional(),
  model: text.optional(),
  /** For protocol `acp`: the agent's own ids of its login and of the session's mode. */
  auth: text.optional(),
  mode: text.optional(),
  /** What it asks by itself, where its calls do not go through the model proxy. */
  hosts: reach.optional(),
  /** No more of `network.agents` than this. */
  network: reach.optional(),
});
export const schema = z
  .strictObject({
    worker: z
      .strictObject({
        name: name.default(() => nameOf(hostname())),
        slots: z.int().min(1).max(500).default(2),
        queues: queues.min(1).default([DEFAULT_QUEUE]),
        isolation: z.enum(['auto', 'namespace', 'process-group']).default('auto'),
        coder: name.optional(),
        /** How often the work of a live run is saved. */
        checkpoint: duration.default('5m'),
        onTerm: z.enum(['hand-over', 'drain']).default('hand-over'),
        /** Names of its environment variables that a task may ask for. */
        env: variables.default([]),
      })
      .prefault({}),
    /** What agents see of this machine beside their work and the programs that they need; checks only read it. */
    sandbox: z.strictObject({ read: folders.default([]), write: folders.default([]) }).prefault({}),
    network: z
      .strictObject({
        agents: reach.default(['model', 'registries', 'repository']),
        setup: reach.default(['registries']),
        checks: reach.default(['none']),
      })
      .prefault({}),
    disk: z.strictObject({ floor: bytes.default('2GB'), reserve: bytes.default('64MB') }).prefault({}),
    keep: z
      .strictObject({
        accepted: duration.default('7d'),
        rejected: duration.default('14d'),
        setAside: duration.default('20d'),
        orphaned: duration.default('7d'),
      })
      .prefault({}),
    /** What looks like a secret in a result, and is none. */
    secrets: z
      .strictObject({
        ignore: z.strictObject({ paths: globs.default([]), values: z.array(text).max(200).default([]) }).prefault({}),
      })
      .prefault({}),
    /** Hosts whose private addresses may be asked for, where links of an artifact are checked. */
    links: z.strictObject({ private: z.array(wildcard).max(100).default([]) }).prefault({}),
    queues: queues.default([]),
    machine: name.optional(),
    coders: z.record(name, coder).default({}),
    credentials,
    limits: limits.prefault({}),
    routes: routes.default([]),
    triage: triage.optional(),
    budgets: budgets.default([]),
    prices: prices.default({}),
    models: models.default({}),
    lease: z
      .strictObject({
        heartbeat: duration.default('12s'),
        grace: duration.default('40s'),
        selfKill: duration.default('30s'),
      })
      .prefault({}),
    /** What a person has to approve before it is delivered, whatever its task says. */
    irreversible: z
      .strictObject({
        paths: globs.default([]),
        labels: z.array(text).max(100).default([]),
        deliver: z.array(z.enum(['branch', 'pr', 'merge'])).default([]),
        /** Branches, with `*`, that nothing is merged into without a yes. */
        branches: z.array(text).max(100).default(PROTECTED_BRANCHES),
        /** Commands that an agent may not have run unseen. */
        commands: z.array(text).max(200).default(IRREVERSIBLE_COMMANDS),
        /** What nobody said yes to for so long is a no. */
        timeout: duration.default('1d'),
      })
      .prefault({}),
    /** Agents outside the fleet whose word is enough where nothing can be verified. */
    outside: z.strictObject({ trusted: z.array(name).max(100).default([]) }).prefault({}),
    context: z.strictObject({ inherit: z.enum(['none', 'project', 'user']).default('project') }).prefault({}),
    alerts: z
      .strictObject({ webhook: z.url({ protocol: /^https?$/ }).optional(), command: argv.optional() })
      .prefault({}),
    channels,
    github,
    /** A queue that is a git repository. */
    sync: z
      .strictObject({
        /** Default: `worker.name`. */
        name: name.optional(),
        /** For tasks that name none. */
        repo: text.optional(),
        /** At least, whatever its files say. */
        approval: taskInput.shape.approval,
      })
      .prefault({}),
    patrol,
    backlog,
    handOff,
    git: z.strictObject({ name: text.default('Infinity Fleet'), email: text.default('fleet@localhost') }).prefault({}),
  })
  .superRefine((config, ctx) => {
    if (ctx.issues.length) return;
    for (const [path, message] of inconsistencies(config)) ctx.addIssue({ code: 'custom', path, message });
  });

export type Config = z.output<typeof schema>;
type Partially<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> | undefined }
    : T;
/** A configuration of which any part may be left out. */
export type PartialConfig = Partially<z.input<typeof schema>>;

// What a worker needs between its own deadline and the moment when another may claim its runs (docs/config.md, lease).
const TICK_MS = 1_000;
const FENCE_MS = 5_000;
const MARGIN_MS = 10_000;

function inconsistencies(config: Config): [path: PropertyKey[], message: string][] {
  const found: [PropertyKey[], string][] = [];
  const { heartbeatMs, graceMs, selfKillMs } = leaseOf(config);
  if (selfKillMs + TICK_MS + FENCE_MS + MARGIN_MS > heartbeatMs + graceMs) {
    const needed = formatDuration(selfKillMs + TICK_MS + FENCE_MS + MARGIN_MS);
    const rule = 'selfKill + 1s tick + 5s fence ladder + 10s margin ≤ heartbeat + grace';
    found.push([
      ['lease'],
      `must keep the rule ${rule}: ${needed} is more than ${formatDuration(heartbeatMs + graceMs)}`,
    ]);
  }
  if (selfKillMs + TICK_MS + FENCE_MS > graceMs) {
    const rule = 'selfKill + 1s tick + 5s fence ladder ≤ grace';
    const needed = formatDuration(selfKillMs + TICK_MS + FENCE_MS);
    found.push([['lease'], `must keep the rule ${rule}: ${needed} is more than ${formatDuration(graceMs)}`]);
  }
  const idle = idleFault({ ...DEFAULT_LIMITS, ...config.limits });
  if (idle) found.push([['limits'], idle]);
  const { floor, reserve } = config.disk;
  if (toBytes(reserve) >= toBytes(floor))
    found.push([['disk'], `must have reserve below floor: ${reserve} is not less than ${floor}`]);
  for (const [key, { command, protocol, auth, mode }] of Object.entries(config.coders)) {
    if (auth !== undefined && protocol !== 'acp') found.push([['coders', key, 'auth'], 'needs protocol: acp']);
    if (mode !== undefined && protocol !== 'acp') found.push([['coders', key, 'mode'], 'needs protocol: acp']);
    if (BUILTIN_CODERS.some((builtin) => builtin === key) || (command && protocol)) continue;
    found.push([['coders', key], `needs command and protocol: only ${BUILTIN_CODERS.join(', ')} are known without`]);
  }
  const known = new Set([...BUILTIN_CODERS, ...Object.keys(config.coders)]);
  if (config.worker.coder && !known.has(config.worker.coder)) {
    found.push([['worker', 'coder'], `must be one of ${[...known].join(', ')}`]);
  }
  found.push(...credentialFaults(config.credentials, known));
  const classes = config.triage?.classes ?? null;
  found.push(
    ...budgetFaults(config.budgets),
    ...triageFaults(config.triage),
    ...routeFaults(config.routes, { ...config, classes }),
    ...channelFaults(config.channels),
  );
  return found;
}

/** The lease in milliseconds. */
export function leaseOf(config: Pick<Config, 'lease'>): { heartbeatMs: number; graceMs: number; selfKillMs: number } {
  const { heartbeat, grace, selfKill } = config.lease;
  return { heartbeatMs: toMs(heartbeat), graceMs: toMs(grace), selfKillMs: toMs(selfKill) };
}

/** A host's short name in the shape of a `name`. */
export function nameOf(host: string): string {
  const short = host.split('.', 1)[0] ?? '';
  return (
    short
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 40) || 'worker'
  );
}
