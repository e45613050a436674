import { z } from 'zod';
import { ruleFor, when } from './route.ts';
import type { TaskFacts } from '../task/task-facts.ts';
import { duration, name, variables } from '../task/schema.ts';

/** Says of what class a task is, once: by rules, then by a command, else the default. */
export const triage = z.strictObject({
  classes: z.array(name).min(1).max(50).default(['simple', 'complex', 'code']),
  rules: z.array(z.strictObject({ when: when.omit({ class: true }), class: name })).default([]),
  /** Gets the task as JSON on stdin; the last line that it prints is the class. */
  command: z.array(z.string().min(1)).min(1, { error: 'must have at least one part' }).optional(),
  /** Names of the worker's environment variables that the command may see, e.g. of an API key. */
  env: variables.default([]),
  timeout: duration.default('30s'),
  default: name,
});
export type Triage = z.output<typeof triage>;

/** The class of a task, and what said so. */
export interface Triaged {
  class: string;
  /** E.g. `triage.rules[0]`. */
  by: string;
}

/** What the rules say; `'ask'` where the command is to; else the default. */
export function triageByRule({ rules, command, default: otherwise }: Triage, facts: TaskFacts): Triaged | 'ask' {
  const found = ruleFor(rules, facts);
  if (found && found !== 'triage') return { class: found.rule.class, by: `triage.rules[${found.index}]` };
  return command ? 'ask' : { class: otherwise, by: 'triage.default' };
}

export function triageFaults(triaged: Triage | undefined): [path: PropertyKey[], message: string][] {
  if (!triaged) return [];
  const { classes, rules, default: otherwise } = triaged;
  const must = `must be one of triage.classes: ${classes.join(', ')}`;
  return [
    ...(classes.includes(otherwise) ? [] : [[['triage', 'default'], must] as [PropertyKey[], string]]),
    ...rules.flatMap(({ class: one }, index): [PropertyKey[], string][] =>
      classes.includes(one) ? [] : [[['triage', 'rules', index, 'class'], must]],
    ),
  ];
}

/** The class that a command printed, last; undefined where it is none. */
export function readClass(output: string, classes: readonly string[]): string | undefined {
  const last = output.trim().split('\n').at(-1)?.trim() ?? '';
  return classes.find((one) => one === last) ?? classes.find((one) => one.toLowerCase() === last.toLowerCase());
}
