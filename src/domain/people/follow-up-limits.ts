import { z } from 'zod';
import { toBytes } from '../values/bytes.ts';
import { parseDuration } from '../values/duration.ts';
import { approvalOf, asks } from './follow-up-approval.ts';
import { globsWithin } from '../artifact/glob-subset.ts';
import { notForAgents } from './agent-restrictions.ts';
import type { FollowUp, Read } from './outbox.ts';
import { idleFault } from '../task/validation.ts';
import { pathsOf } from '../artifact/artifact.ts';
import { protectBoth } from '../task/protect.ts';
import { TASK_TYPES, type Task } from '../task/schema.ts';
import { parseTask } from '../task/parse.ts';
import { verifyBoth } from '../repository/merge-verify.ts';
import { fits } from '../values/wildcard.ts';
import { wildcard } from '../task/wildcard-schema.ts';

/** From one task to the next: what a follow-up may be, and whether a person has to say yes to it. */

const rule = z.strictObject({
  /** The coder or person that hands it off, with `*` for any part of a name. */
  from: wildcard.optional(),
  /** The coder or agent that it is for; a follow-up for anybody is for `any`. */
  to: wildcard.optional(),
  type: z.enum(TASK_TYPES).optional(),
});
type Rule = z.output<typeof rule>;

/** `handOff` of the configuration. */
export const handOff = z
  .strictObject({
    /** Goes on without a person's yes. */
    allow: z.array(rule).max(100).default([]),
    /** Is refused; asked first. */
    deny: z.array(rule).max(100).default([]),
    /** Levels of follow-ups of follow-ups. */
    depth: z.int().min(0).max(10).default(3),
    /** Follow-ups of one task, all its runs together. */
    perTask: z.int().min(0).max(100).default(20),
  })
  .prefault({});
export type HandOffRules = z.output<typeof handOff>;

export interface Parent {
  id: string;
  task: Task;
  /** Who hands it off: the coder of its run, or a person. */
  from: string;
  /** Hand-offs that led to it. */
  depth: number;
  /** Follow-ups that it has already. */
  children: number;
}

/** What the agents of one run propose, as its task's workflow tells it. */
export interface Proposals {
  id: string;
  task: Task;
  /** The coder. */
  from: string;
  /** The run's number. */
  n: number;
  /** Follow-ups that the task has already, of earlier runs. */
  children: number;
  followUps: readonly FollowUp[];
}

/** Null: no rule says anything. */
export type Ruled = { allowed: boolean; rule: string } | null;

/** The first rule that matches, those of `deny` before those of `allow`. */
export function ruleOf(rules: HandOffRules, of: { from: string; to: string; type: Task['type'] }): Ruled {
  for (const list of ['deny', 'allow'] as const) {
    const at = rules[list].findIndex((one) => applies(one, of));
    if (at !== -1) return { allowed: list === 'allow', rule: `handOff.${list}[${at}]` };
  }
  return null;
}

const applies = ({ from, to, type }: Rule, of: { from: string; to: string; type: Task['type'] }): boolean =>
  (from === undefined || fits(from, of.from)) &&
  (to === undefined || fits(to, of.to)) &&
  (type === undefined || type === of.type);

/** Whose word it is: an agent's own proposal may have no webhook that its task has not, and no person's priority. */
export type By = 'agent' | 'person';

/** `input`: of the task that it becomes. The rest no task says of itself. */
export interface Narrowed extends Pick<Task, 'parent' | 'proposed'> {
  input: Record<string, unknown>;
}

/**
 * The task that a follow-up becomes: nothing of it wider than its parent's, and what it does not say is the parent's. `isCoder` tells
 * whether `to` is a coder; else it is an agent outside the fleet. @returns the message as one sentence naming the field
 */
export function narrowed(
  followUp: FollowUp,
  { parent, rules, by, isCoder }: { parent: Parent; rules: HandOffRules; by: By; isCoder(name: string): boolean },
): Read<Narrowed> {
  const { task: above } = parent;
  const { to, context, callback, task: fields } = followUp;
  if (parent.depth >= rules.depth)
    return no(`handOff.depth is ${rules.depth}: task ${parent.id} is as far down as it goes`);
  if (parent.children >= rules.perTask) return no(`handOff.perTask is ${rules.perTask}: task ${parent.id} has as many`);
  const asked: Record<string, unknown> = {
    ...fields,
    ...(to === undefined ? {} : isCoder(to) ? { coder: to } : { for: to }),
    ...(context === undefined ? {} : { context }),
    ...(callback === undefined ? {} : { callback }),
  };
  const inherited = above.repo ? { repo: above.repo, ...(above.machine ? { machine: above.machine } : {}) } : {};
  const placed = { type: above.type, ...inherited, ...asked };
  const parsed = parseTask(placed);
  if (!parsed.ok) return no(parsed.message);
  const child = parsed.task;
  const wider = widerThan(above, { child, asked, by, id: parent.id });
  if (wider) return no(`${wider}, as task ${parent.id} hands it off`);
  const heir = child.for ?? child.coder ?? above.coder ?? 'any';
  const ruled = ruleOf(rules, { from: parent.from, to: heir, type: child.type });
  if (ruled && !ruled.allowed) return no(`${ruled.rule} of the configuration forbids it`);
  const pr = asked['pr'] === undefined ? { pr: above.pr } : {};
  const proposed = by === 'agent' && ruled === null && !asks(above, child, 'before-run');
  return {
    ok: true,
    value: {
      input: {
        ...placed,
        ...within(above, child),
        ...pr,
        approval: approvalOf(above, child, { ruled: ruled !== null, by }),
      },
      parent: parent.id,
      ...(proposed ? { proposed } : {}),
    },
  };
}

const LABELS_MAX = 20;

const no = (message: string): { ok: false; message: string } => ({ ok: false, message });

const SAME = ['repo', 'machine', 'cwd', 'queue', 'credential', 'producer'] as const;

/** The first field that is wider, as the beginning of a sentence. */
function widerThan(
  above: Task,
  { child, asked, by, id }: { child: Task; asked: Record<string, unknown>; by: By; id: string },
): string | undefined {
  const same = (field: (typeof SAME)[number]): string | undefined =>
    child[field] !== undefined && asked[field] !== undefined && child[field] !== above[field]
      ? `${field} must be ${above[field] ?? 'left out'}`
      : undefined;
  const outside = SAME.map(same).find(Boolean);
  if (outside) return outside;
  const allowed = allowOf(above);
  const wide = allowed && globsWithin(child.scope.allow ?? [], allowed)[0];
  if (wide !== undefined) return `scope.allow must be within ${listOf(allowed!)}: ${wide} is not`;
  const outputs = [...(allowed ?? []), ...pathsOf(above.artifacts)];
  const left = allowed && globsWithin(pathsOf(child.artifacts), outputs)[0];
  if (left !== undefined) return `artifacts must be within ${listOf(outputs)}: ${left} is not`;
  for (const [key, most] of Object.entries(above.limits)) {
    const value = child.limits[key as keyof Task['limits']];
    if (value !== undefined && most !== undefined && size(value) > size(most))
      return `limits.${key} must be at most ${most}`;
  }
  if (asked['deliver'] !== undefined && strength(child) > strength(above))
    return `deliver must be ${above.deliver} or less`;
  if (child.into !== undefined && child.into !== above.into) return `into must be ${above.into ?? 'left out'}`;
  const variable = child.env.find((name) => !above.env.includes(name));
  if (variable) return `env must not have ${variable}`;
  const { network = [] } = above;
  const reached = above.network && child.network?.find((one) => one !== 'none' && !network.includes(one));
  if (reached) return `network must be within ${listOf(network)}: ${reached} is not`;
  const taken = by === 'agent' && notForAgents(above, { child, asked, id });
  if (taken) return taken;
  if (asked['retry'] !== undefined && child.retry.maxAttempts > above.retry.maxAttempts)
    return `retry.maxAttempts must be at most ${above.retry.maxAttempts}`;
  if (asked['priority'] !== undefined && child.priority < above.priority)
    return `priority must be ${above.priority} or more`;
  return undefined;
}

/** The parent's where the child does not say; an idle that is not below the child's total would only stand in its way. */
function limitsOf(above: Task, child: Task): Task['limits'] {
  const limits = { ...above.limits, ...child.limits };
  if (child.limits.idle === undefined && idleFault(limits)) delete limits.idle;
  return limits;
}

/** What is the parent's where the child does not say, and what both have together. */
function within(above: Task, child: Task): Record<string, unknown> {
  const allow = child.scope.allow ?? allowOf(above);
  const protect = protectBoth(above.scope.protect, child.scope.protect);
  const coder = child.coder ?? (child.for === undefined ? above.coder : undefined);
  const ownCredential = above.credential !== undefined && coder === above.coder;
  return {
    queue: above.queue,
    scope: { ...(allow ? { allow } : {}), ...(Object.keys(protect).length > 0 ? { protect } : {}) },
    limits: limitsOf(above, child),
    retry: { ...child.retry, maxAttempts: Math.min(child.retry.maxAttempts, above.retry.maxAttempts) },
    priority: Math.max(child.priority, above.priority),
    ...(coder ? { coder } : {}),
    ...(coder === above.coder && child.model === undefined && above.model ? { model: above.model } : {}),
    ...(above.overlap === 'serialize' ? { overlap: above.overlap } : {}),
    ...(ownCredential ? { credential: above.credential } : {}),
    ...(strength(child) > strength(above) ? { deliver: above.deliver } : {}),
    ...(above.into && strength(child) > 1 ? { into: above.into } : {}),
    // Also where it starts from results: what its repository asks for is read there.
    ...(child.base === undefined && above.base && child.repo === above.repo ? { base: above.base } : {}),
    ...(child.submodules === undefined && above.submodules !== undefined ? { submodules: above.submodules } : {}),
    ...(child.network === undefined && above.network ? { network: above.network } : {}),
    ...(above.cwd !== undefined && child.repo === above.repo ? { cwd: above.cwd } : {}),
    agentTools: child.agentTools.filter((tool) => above.agentTools.includes(tool)),
    ...(above.producer === undefined ? {} : { producer: above.producer }),
    ...(above.review ? { review: above.review } : {}),
    ...verifyOf(above, { ...child, scope: allow ? { allow } : {} }),
    // What is irreversible by its label stays so.
    labels: [...new Set([...above.labels, ...child.labels])].slice(0, LABELS_MAX),
    ageing: above.ageing,
  };
}

/**
 * All that its parent is checked by, and what it asks for itself. Not the tests that have to fail on the base: these are of the
 * parent's own change. Of one that may change nothing there is nothing to check.
 */
function verifyOf(above: Task, child: Task): Pick<Task, 'verify'> {
  if (!child.repo || child.repo !== above.repo) return {};
  if (allowOf(child)?.length === 0 && child.artifacts.length === 0) return {};
  const { failToPass: _, ...asked } = above.verify ?? {};
  const verify = verifyBoth(above.verify && asked, child.verify);
  return verify ? { verify } : {};
}

/** What the parent itself may change; undefined: all. */
const allowOf = ({ scope, type, repo }: Task): string[] | undefined =>
  scope.allow ?? (type === 'code' || !repo ? undefined : []);

const strength = ({ deliver }: Task): number => ['none', 'branch', 'pr', 'merge'].indexOf(deliver);
const size = (value: string | number): number =>
  typeof value === 'number' ? value : (parseDuration(value) ?? toBytes(value));
const listOf = (globs: readonly string[]): string => globs.join(', ') || 'nothing';
