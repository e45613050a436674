import { z } from 'zod';
import { toMs } from '../values/duration.ts';
import { callback, duration, name, taskInput } from '../task/schema.ts';
import { firstIssue } from '../artifact/first-issue.ts';
import type { Asked } from './waiting.ts';

/**
 * What an agent leaves for its worker to read when it has ended: a question to a person, and tasks that should follow. Both are
 * proposals: what becomes of them is decided outside.
 */

export const QUESTION_FILES = ['question.json', 'question.md'] as const;
export const FOLLOW_UPS = 'follow-ups';
export const FOLLOW_UPS_MAX = 20;
export const OUTBOX_FILE_BYTES = 32 * 1024;
/** Bytes of all follow-ups of a run: they go through the task's history. */
export const FOLLOW_UPS_BYTES = 128 * 1024;

const said = z.string().trim().min(1, { error: 'must not be empty' });

export const question = z
  .strictObject({
    question: said.max(4_000),
    options: z.array(said.max(200)).max(20).default([]),
    default: said.max(2_000).optional(),
    deadline: duration.optional(),
  })
  .superRefine(({ options, default: fallback, deadline }, ctx) => {
    const wrong = (message: string) => ctx.addIssue({ code: 'custom', path: ['default'], message });
    if (fallback !== undefined && options.length > 0 && !options.includes(fallback))
      wrong('must be one of the options');
    if (deadline !== undefined && fallback === undefined)
      wrong('is required with a deadline: it counts when that is over');
  });

/** Whose it is becomes known where it is created. */
const ownFields = taskInput.omit({ parent: true, proposed: true });

export const followUp = z.strictObject({
  /** A coder, or an agent outside the fleet. */
  to: name.optional(),
  /** The fields of a task, or only its objective. */
  task: z.union([z.string(), z.record(z.string(), z.unknown())], {
    error: 'must be an objective or the fields of a task',
  }),
  /** What the one who hands it off passes on. */
  context: z.string().max(20_000).optional(),
  callback: callback.optional(),
});
/** The next two as people and agents write them. */
export type Question = z.input<typeof question>;
export interface FollowUpInput {
  to?: string | undefined;
  task: string | Record<string, unknown>;
  context?: string | undefined;
  callback?: z.input<typeof callback> | undefined;
}
/** As it is created: `task` has at least an objective, and its fields are those of a task. */
export interface FollowUp extends Omit<z.output<typeof followUp>, 'task'> {
  task: Record<string, unknown>;
}

export type Read<T> = { ok: true; value: T } | { ok: false; message: string };

/** `question.md` is the question itself; a JSON file has its options, too. The message names what is wrong, in one sentence. */
export function readQuestion(file: string, text: string): Read<Asked> {
  const read = file.endsWith('.md') ? { ok: true as const, value: { question: text } } : parseJson(text);
  if (!read.ok) return { ok: false, message: `${file} ${read.message}` };
  const parsed = question.safeParse(read.value);
  if (!parsed.success) return { ok: false, message: `${file}: ${firstIssue(parsed.error)}` };
  const { question: asked, options, default: fallback = null, deadline } = parsed.data;
  return {
    ok: true,
    value: { text: asked, options, default: fallback, deadlineMs: deadline === undefined ? null : toMs(deadline) },
  };
}

/** A follow-up of a file: JSON with the fields of `followUp`, or as text the objective alone. */
export function readFollowUp(file: string, text: string): Read<FollowUp> {
  const read = file.endsWith('.md') ? { ok: true as const, value: { task: text } } : parseJson(text);
  const checked = read.ok ? checkFollowUp(read.value) : read;
  return checked.ok ? checked : { ok: false, message: `${file}: ${checked.message}` };
}

/** As far as can be told without the task that it comes from. */
export function checkFollowUp(value: unknown): Read<FollowUp> {
  const parsed = followUp.safeParse(value);
  if (!parsed.success) return { ok: false, message: firstIssue(parsed.error) };
  const { task, ...rest } = parsed.data;
  const fields = typeof task === 'string' ? { objective: task } : task;
  const known = ownFields.safeParse(fields);
  if (!known.success) return { ok: false, message: `task.${firstIssue(known.error)}` };
  return { ok: true, value: { ...rest, task: fields } };
}

function parseJson(text: string): Read<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, message: 'is no valid JSON' };
  }
}
