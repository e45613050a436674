import { z } from 'zod';
import { inRange, range } from '../values/range.ts';
import { idleFault } from '../task/validation.ts';
import { limits, name, TASK_TYPES } from '../task/schema.ts';
import type { TaskFacts } from '../task/task-facts.ts';
import { fits } from '../values/wildcard.ts';
import { wildcard } from '../task/wildcard-schema.ts';

/** Which coder, model, credential and limits a run gets: rules of the worker that claims it, the first that matches counts. */

/** One, or a list of which any will do. */
const any = <T extends z.ZodType>(one: T) =>
  z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(one).min(1).max(50));

/** `claude`, or with a model of its own `codex:o3`. */
export const coderSpec = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}(:[^\s:][^\n\r\0]{0,99})?$/, {
  error: 'must be a coder, such as claude, or a coder and its model, such as codex:o3',
});

export const when = z.strictObject({
  type: any(z.enum(TASK_TYPES)).optional(),
  labels: any(z.string().max(60)).optional(),
  queue: any(name).optional(),
  priority: range.optional(),
  /** Characters of the objective. */
  size: range.optional(),
  repo: any(wildcard).optional(),
  /** 1 is the first; only runs that used up an attempt are counted. */
  attempt: range.optional(),
  /** As triage says. */
  class: any(name).optional(),
});
export type When = z.output<typeof when>;

export const route = z.strictObject({
  name: name.optional(),
  when: when.prefault({}),
  /** The first of them that is here and able. */
  coder: any(coderSpec).optional(),
  model: z.string().min(1).max(100).optional(),
  credential: name.optional(),
  limits: limits.optional(),
});
export type Route = z.output<typeof route>;
export const routes = z.array(route).max(200);

/** What a run is to use: what its task pins, or what a rule of its worker chose. */
export interface Choice {
  coder: string;
  /** Name of one of the worker's credentials; missing: any of the coder's. */
  credential?: string;
  /** Missing: the coder's own default. */
  model?: string;
  /** The rule's limits: see `mergePolicy` for what they come to. */
  limits?: z.output<typeof limits>;
  /** Which rule chose it; missing where the task or the worker's default did. */
  rule?: string;
}

/** The first rule that matches; `'triage'` where that depends on a class that is not known. */
export function ruleFor<T extends { when: When }>(
  rules: readonly T[],
  facts: TaskFacts,
): { rule: T; index: number } | 'triage' | undefined {
  for (const [index, rule] of rules.entries()) {
    if (!matches(rule.when, facts)) continue;
    if (rule.when.class && facts.class === undefined) return 'triage';
    if (rule.when.class?.includes(facts.class ?? '') ?? true) return { rule, index };
  }
  return undefined;
}

/** But for the class. */
function matches(asked: When, facts: TaskFacts): boolean {
  const { type, labels, queue, priority, size, repo, attempt } = asked;
  return (
    (type?.includes(facts.type) ?? true) &&
    (labels?.some((label) => facts.labels.includes(label)) ?? true) &&
    (queue?.includes(facts.queue) ?? true) &&
    (priority === undefined || inRange(priority, facts.priority)) &&
    (size === undefined || inRange(size, facts.size)) &&
    (repo?.some((pattern) => facts.repo !== null && fits(pattern, facts.repo)) ?? true) &&
    (attempt === undefined || inRange(attempt, facts.attempt))
  );
}

/** `routes[1] (big)` */
export const ruleName = ({ name: called }: Pick<Route, 'name'>, index: number): string =>
  `routes[${index}]${called ? ` (${called})` : ''}`;

/** `codex:o3` as its parts. */
export function splitSpec(spec: string): { coder: string; model?: string } {
  const at = spec.indexOf(':');
  return at < 0 ? { coder: spec } : { coder: spec.slice(0, at), model: spec.slice(at + 1) };
}

/**
 * What a rule comes to for a task, in the order in which it is to be tried. The task's own coder and model win; a rule's model
 * is for the rule's coders only.
 */
export function choicesOf(
  pins: { coder?: string | undefined; model?: string | undefined },
  { rule, index, fallback }: { rule: Route | undefined; index: number; fallback: string | undefined },
): Choice[] {
  const ruled = (rule?.coder ?? (fallback ? [fallback] : [])).map(splitSpec);
  const specs = pins.coder ? [ruled.find(({ coder }) => coder === pins.coder) ?? { coder: pins.coder }] : ruled;
  return specs.map((spec): Choice => {
    // A rule that names no coder speaks of whichever it is.
    const ofRule = !rule?.coder || ruled.some(({ coder }) => coder === spec.coder);
    const model = pins.model ?? spec.model ?? (ofRule ? rule?.model : undefined);
    const credential = ofRule ? rule?.credential : undefined;
    const decides = (!pins.coder && rule?.coder) || (!pins.model && ofRule && model) || credential || rule?.limits;
    return {
      coder: spec.coder,
      ...(model ? { model } : {}),
      ...(credential ? { credential } : {}),
      ...(rule?.limits ? { limits: rule.limits } : {}),
      ...(rule && decides ? { rule: ruleName(rule, index) } : {}),
    };
  });
}

/** What cannot be meant: rules that decide nothing, and names that are not there. */
export function routeFaults(
  all: readonly Route[],
  known: { credentials: Readonly<Record<string, { coder: string }>>; classes: readonly string[] | null },
): [path: PropertyKey[], message: string][] {
  return all.flatMap((rule, index) => {
    const faults: [PropertyKey[], string][] = [];
    const { coder, model, credential, limits: bounds } = rule;
    if (!coder && !model && !credential && !bounds)
      faults.push([['routes', index], 'needs at least one of coder, model, credential, limits']);
    const idle = idleFault(bounds ?? {});
    if (idle) faults.push([['routes', index, 'limits'], idle]);
    const of = credential === undefined ? undefined : known.credentials[credential];
    if (credential !== undefined && !of)
      faults.push([
        ['routes', index, 'credential'],
        `must be one of credentials: ${Object.keys(known.credentials).join(', ') || 'none is configured'}`,
      ]);
    const others = of && coder?.map((spec) => splitSpec(spec).coder).filter((one) => one !== of.coder);
    if (of && others?.length)
      faults.push([['routes', index, 'credential'], `must be of coder ${others[0]}: ${credential} is of ${of.coder}`]);
    const asked = rule.when.class ?? [];
    const odd = asked.find((one) => !known.classes?.includes(one));
    if (asked.length > 0 && !known.classes)
      faults.push([['routes', index, 'when', 'class'], 'needs triage, which says the class of a task']);
    else if (odd !== undefined)
      faults.push([['routes', index, 'when', 'class'], `must be one of triage.classes: ${known.classes?.join(', ')}`]);
    return faults;
  });
}

/** Rules none of whose coders is known: `routes[1] (big) leads to coder codex`. */
export function unmetRoutes(all: readonly Route[], known: { has(coder: string): boolean }): string[] {
  return all.flatMap((rule, index) => {
    const names = [...new Set((rule.coder ?? []).map((spec) => splitSpec(spec).coder))];
    if (names.length === 0 || names.some((coder) => known.has(coder))) return [];
    return [`${ruleName(rule, index)} leads to ${names.length > 1 ? 'coders' : 'coder'} ${names.join(', ')}`];
  });
}
