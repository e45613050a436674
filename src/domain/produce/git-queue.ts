import { z } from 'zod';
import { memberKeys, setMembers } from '../values/json-edit.ts';
import { ID_MAX, isTaskId } from '../names.ts';
import { taskInput, type Task, type TaskInput } from '../task/schema.ts';
import { firstIssue } from '../artifact/first-issue.ts';
import { parseTask } from '../task/parse.ts';
import { isUrl } from '../repository/repository-name.ts';

/** A queue that is a folder of JSON files in a git repository: what one file says, and what a fleet writes into it. */

export const QUEUE_FOLDER = 'tasks';
/** Nobody has it yet. */
const OPEN = ['pending', 'open'];
const ANYBODY = ['', 'any'];
const ANY_FLEET = 'fleet';
export const CLOSED = ['done', 'failed', 'cancelled'] as const;

const word = z.string().max(1_000).nullish();
const file = z.looseObject({
  id: z.string().optional(),
  title: word,
  description: z.string().nullish(),
  type: word,
  for_agent: word,
  status: word,
  created_by: word,
  claimed_by: word,
  claimed_at: word,
  created_at: word,
  fleet_task: word,
  task: z.record(z.string(), z.unknown()).nullish(),
});

/** One file of the queue. */
export interface QueueTask {
  id: string;
  title: string | undefined;
  description: string;
  type: string | undefined;
  /** Empty or `any`: anybody; `fleet`: any fleet; else a name. */
  forAgent: string;
  status: string;
  createdBy: string;
  /** As somebody wrote it. */
  createdAt: string;
  /** Empty where nobody has it. */
  claimedBy: string;
  claimedAt: string | undefined;
  /** The id that the claiming fleet gave it. */
  fleetTask: string | undefined;
  result: unknown;
  /** Further fields of a fleet's task. */
  task: Record<string, unknown>;
  text: string;
}

export type ReadTask = { ok: true; task: QueueTask } | { ok: false; message: string };

/** @param stem the file's name without `.json`: the id where the file says none */
export function readTask(text: string, stem: string): ReadTask {
  const plain = plainOf(text);
  let value: unknown;
  try {
    value = JSON.parse(plain);
  } catch (error) {
    return no(`is no valid JSON: ${(error as Error).message.split('\n', 1)[0]}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return no('must be one JSON object');
  const keys = memberKeys(plain);
  const once = new Set<string>();
  const twice = keys.find((key) => once.size === once.add(key).size);
  if (twice !== undefined) return no(`has the field ${JSON.stringify(twice)} twice`);
  const parsed = file.safeParse(value);
  if (!parsed.success) return no(firstIssue(parsed.error));
  const said = parsed.data;
  const id = said.id ?? stem;
  if (!isTaskId(id))
    return no(
      `id ${JSON.stringify(id.slice(0, 80))} must be lower-case words joined by ".", "_" or "-", ${ID_MAX} characters at most`,
    );
  return { ok: true, task: taskOf(said, { id, text }) };
}

function taskOf(said: z.infer<typeof file>, { id, text }: { id: string; text: string }): QueueTask {
  return {
    id,
    title: said.title?.trim() || undefined,
    description: said.description ?? '',
    type: said.type ?? undefined,
    forAgent: said.for_agent?.trim() ?? '',
    status: said.status?.trim().toLowerCase() || 'pending',
    createdBy: said.created_by ?? '',
    createdAt: said.created_at ?? '',
    claimedBy: said.claimed_by ?? '',
    claimedAt: said.claimed_at ?? undefined,
    fleetTask: said.fleet_task ?? undefined,
    // Read again when they are asked for: kept, a text of brackets takes many times its own size.
    get result() {
      return member(this.text, 'result') ?? null;
    },
    get task() {
      return (member(this.text, 'task') ?? {}) as Record<string, unknown>;
    },
    text,
  };
}

const plainOf = (text: string): string => text.replace(/^\uFEFF/, '');
const member = (text: string, key: string): unknown => (JSON.parse(plainOf(text)) as Record<string, unknown>)[key];

export const isOpen = ({ status }: Pick<QueueTask, 'status'>): boolean => OPEN.includes(status);
export const isClaimed = ({ status }: Pick<QueueTask, 'status'>): boolean => status === 'claimed';

/** Whether a person, or an agent outside of every fleet, of this name may take it. */
export const isForPerson = ({ forAgent }: Pick<QueueTask, 'forAgent'>, name: string): boolean =>
  ANYBODY.includes(forAgent.toLowerCase()) || forAgent === name;
/** Whether the fleet of this name may. */
export const isForFleet = (task: Pick<QueueTask, 'forAgent'>, name: string): boolean =>
  isForPerson(task, name) || task.forAgent.toLowerCase() === ANY_FLEET;

/** What a shared queue may not say of a task: it reaches into this fleet, or into the machine of a worker. */
const OURS = ['callback', 'credential', 'dependsOn', 'env', 'for', 'machine', 'parent', 'producer', 'proposed'];
/** What stands in the file itself. */
const OUTSIDE: Readonly<Record<string, string>> = { objective: 'description', title: 'title', type: 'type' };

export interface InputOptions {
  /** The queue's key, as in the ids of its tasks. */
  queue: string;
  /** For tasks that name none. */
  repo?: string | undefined;
  /** When a person has to say yes, at least. */
  approval?: Approval | undefined;
}
type Approval = Task['approval'];

export type AsInput = { ok: true; input: TaskInput } | { ok: false; message: string };

/** The fleet's task. */
export function inputOf(task: QueueTask, { queue, repo, approval = 'never' }: InputOptions): AsInput {
  const { task: more, title, type } = task;
  const wrong = misplaced(more);
  if (wrong) return no(wrong);
  if (!task.description.trim()) return no('description is required: say what the agent should do');
  const at = repo === undefined || more['repo'] !== undefined ? {} : { repo };
  const input = {
    ...at,
    ...more,
    objective: task.description,
    ...(title === undefined ? {} : { title }),
    ...(type === undefined ? {} : { type }),
    producer: queue.slice(-60),
  };
  const parsed = parseTask(input);
  if (!parsed.ok) return no(asFields(parsed.message, new Set(Object.keys(more))));
  return { ok: true, input: { ...(input as TaskInput), approval: stricter(parsed.task.approval, approval) } };
}

function stricter(said: Approval, least: Approval): Approval {
  if (said === least || least === 'never') return said;
  return said === 'never' ? least : 'both';
}

/** All that can be known, without a fleet, to be wrong with what somebody is about to add. */
export function checkNew(task: Pick<QueueTask, 'description' | 'title' | 'type' | 'task'>): string | undefined {
  const { description, title, type, task: more } = task;
  const wrong = misplaced(more);
  if (wrong) return wrong;
  const checked = taskInput.safeParse({
    ...more,
    objective: description,
    ...(title === undefined ? {} : { title }),
    ...(type === undefined ? {} : { type }),
  });
  return checked.success ? undefined : asFields(firstIssue(checked.error), new Set(Object.keys(more)));
}

function misplaced(more: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of Object.keys(more)) {
    if (OURS.includes(key)) return `task.${key} is not for a shared queue to say`;
    if (Object.hasOwn(OUTSIDE, key)) return `task.${key} must be ${OUTSIDE[key]}, beside task`;
  }
  const { repo } = more;
  if (typeof repo === 'string' && !isUrl(repo) && !repo.startsWith('/'))
    return `task.repo must be a URL or an absolute path, not ${repo}`;
  return undefined;
}

/** `objective must …` in the words of the file. */
function asFields(message: string, more: ReadonlySet<string>): string {
  const [name = ''] = /^\w+/.exec(message) ?? [];
  if (more.has(name) || name === 'repo') return `task.${message}`;
  return OUTSIDE[name] ? message.replace(name, OUTSIDE[name]) : message;
}

const no = (message: string): { ok: false; message: string } => ({ ok: false, message });

export interface NewTask {
  id: string;
  title: string;
  description: string;
  type: string | undefined;
  forAgent: string;
  createdBy: string;
  /** ISO */
  at: string;
  task: Record<string, unknown>;
}

/** A new file's text. */
export function writeNew(task: NewTask): string {
  const { id, title, description, type = 'code', forAgent, createdBy, at, task: more } = task;
  const fields = {
    ...{ id, title, description, type, for_agent: forAgent, status: 'pending', created_by: createdBy, created_at: at },
    ...{ claimed_by: null, result: null },
    ...(Object.keys(more).length ? { task: more } : {}),
  };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

/** @param by.fleetTask the id that a fleet runs it under; none where a person or an agent outside claims */
export function writeClaim({ text }: QueueTask, by: { name: string; at: string; fleetTask?: string }): string {
  return setMembers(text, {
    ...{ status: 'claimed', claimed_by: by.name, claimed_at: by.at },
    ...(by.fleetTask === undefined ? {} : { fleet_task: by.fleetTask }),
    result: null,
  });
}

/** Still claimed, and with something to say of it, or nothing any more. */
export const writeNote = ({ text }: QueueTask, result: unknown): string => setMembers(text, { result });

export interface Closing {
  status: (typeof CLOSED)[number];
  result: unknown;
  /** ISO */
  at: string;
}
export const writeClosed = ({ text }: QueueTask, { status, result, at }: Closing): string =>
  setMembers(text, { status, result, completed_at: at });
