import { z } from 'zod';
import { TASK_STATES, type Fleet, type InboxItem, type ListedTask, type TaskReport } from '../../client.ts';
import { wrongInput } from '../../domain/error.ts';
import { toMs } from '../../domain/values/duration.ts';
import { followUp, question } from '../../domain/people/outbox.ts';
import { duration, taskInput, type TaskInput } from '../../domain/task/schema.ts';
import type { Cli } from '../command.ts';
import { placed } from '../input/task-input.ts';
import { askPeople } from './ask-people.ts';

/** What an agent of somebody's may do with the queue. To approve is for people: no agent may say yes to what agents propose. */
export interface Tool {
  name: string;
  about: string;
  input: z.ZodType;
  /** With what was said alone: defaults are filled in where a task is checked. */
  call(on: ToolContext, input: unknown): Promise<unknown>;
}

interface ToolContext {
  cli: Cli;
  fleet: Fleet;
  as: string;
}

const id = z.string().describe('id of a task');
const tool = <S extends z.ZodType>(of: {
  name: string;
  about: string;
  input: S;
  call(on: ToolContext, input: z.input<S>): Promise<unknown>;
}): Tool => of as unknown as Tool;

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'enqueue',
    about:
      'Put a task into the queue; gives its id, and what it will be done by: receipts, or a yes of a person. With the same `key` again it is the same task.',
    input: taskInput
      .omit({ parent: true, proposed: true })
      .extend({ id: z.string().optional(), key: z.string().max(200).optional() }),
    async call({ cli, fleet }, { id: own, key, ...task }) {
      const of = { ...(own === undefined ? {} : { id: own }), ...(key === undefined ? {} : { key }) };
      const [made] = await fleet.enqueueAll([{ input: placed(cli, task), ...of }]);
      const { doneBy, notes } = made!;
      return { id: made!.id, doneBy, ...(notes.length > 0 ? { notes } : {}) };
    },
  }),
  tool({
    name: 'list',
    about: 'Tasks that are open, and those that were closed last.',
    input: z.strictObject({
      states: z.array(z.enum(TASK_STATES as [string, ...string[]])).optional(),
      all: z.boolean().optional(),
    }),
    async call({ fleet }, { states, all = false }) {
      const tasks = await fleet.list({ all, ...(states ? { states: states as TaskReport['state'][] } : {}) });
      return tasks.map(row);
    },
  }),
  tool({
    name: 'show',
    about: 'All about one task, and in one sentence why it is where it is.',
    input: z.strictObject({ id }),
    async call({ fleet }, { id: of }) {
      const report = await fleet.view(of);
      const { sentence } = await fleet.explainReport(report);
      const receipts = report.receipts.map(({ kind, ok, summary }) => ({ kind, ok, summary }));
      return { ...report, runs: report.runs.map(({ receipts: _, ...run }) => run), receipts, why: sentence };
    },
  }),
  tool({
    name: 'answer',
    about:
      'Answer what the agent of a task asks. The first answer counts; `question` is the id of the question that you mean.',
    input: z.strictObject({ id, answer: z.string().min(1), question: z.string().optional() }),
    async call({ fleet, as }, { id: of, answer, question: to }) {
      if ((await fleet.view(of)).for === as) throw new Error(`task ${of} is for ${as}, who asks: a person answers it`);
      await fleet.answer(of, { answer, by: as, ...(to === undefined ? {} : { question: to }) });
      return { id: of, answered: true };
    },
  }),
  tool({
    name: 'hand_off',
    about: 'Make a follow-up of a task, within its limits. It may have to wait for a person.',
    input: followUp.extend({ from: id }),
    async call({ fleet, as }, { from, ...given }) {
      return { id: await fleet.handOff(from, given, { from: as, by: 'agent' }) };
    },
  }),
  tool({
    name: 'propose',
    about: 'Propose a task: it waits until a person approves it.',
    input: followUp.omit({ callback: true }),
    async call({ cli, fleet }, { to, task, context }) {
      const own = typeof task === 'string' ? { objective: task } : task;
      const last = own['approval'] === 'both' || own['approval'] === 'before-deliver';
      const whole = {
        ...own,
        ...(to === undefined ? {} : (await fleet.isCoder(to)) ? { coder: to } : { for: to }),
        ...(context === undefined ? {} : { context }),
        approval: last ? 'both' : 'before-run',
      };
      return { id: await fleet.enqueue(placed(cli, whole) as TaskInput) };
    },
  }),
  tool({
    name: 'ask_human',
    about:
      'Ask a person: on a task that you hold (`id`), which you claim again afterwards, or without one. `show` of the id that it gives has the answer under `answers`.',
    input: question.safeExtend({ id: id.optional() }),
    async call({ fleet, as }, { id: on, ...asked }) {
      return on === undefined ? askPeople(fleet, { as, ...asked }) : fleet.askFor(on, { as, ...asked });
    },
  }),
  tool({
    name: 'claim',
    about: 'Take a task that is for you, or hold it for longer.',
    input: z.strictObject({ id, lease: duration.optional() }),
    async call({ fleet, as }, { id: of, lease }) {
      return fleet.claimFor(of, { as, ...(lease === undefined ? {} : { leaseMs: toMs(lease) }) });
    },
  }),
  tool({
    name: 'complete',
    about:
      'Hand in the result of a task that you hold: `commit` is a branch or commit of its repository. It is verified.',
    input: z.strictObject({ id, result: z.string().min(1), commit: z.string().optional() }),
    async call({ fleet, as }, { id: of, result, commit }) {
      await fleet.completeFor(of, { as, result, ...(commit === undefined ? {} : { commit }) });
      return { id: of, completed: true };
    },
  }),
  tool({
    name: 'drop',
    about: 'Cancel a task that is for you, such as a question that was answered.',
    input: z.strictObject({ id }),
    async call({ fleet, as }, { id: of }) {
      const report = await fleet.view(of);
      if (report.for !== as) throw wrongInput(`task ${of} is not for ${as}`);
      await fleet.cancel(of);
      return { id: of, cancelled: true };
    },
  }),
];

const row = ({ id: of, title, state, reason, message, coder, worker, result, waits }: ListedTask) => ({
  ...{ id: of, title, state, reason, message, coder, worker, branch: result?.branch ?? null },
  ...(waits?.kind === 'question' ? { question: questionOf(waits) } : {}),
});

const questionOf = ({ question: known, text, options, default: otherwise, deadline }: InboxItem) => ({
  ...{ id: known, text, options, default: otherwise, deadline },
});
