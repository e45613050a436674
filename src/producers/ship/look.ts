import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '../../client.ts';
import type { TaskState } from '../../domain/task/state.ts';
import type { Found } from './find-files.ts';
import { Places } from './place.ts';
import { readProposal, type Approved, type Proposal } from './read-proposal.ts';
import { readStatus, removeStatus, writeStatus, type Status } from './status-file.ts';

/** How one file stands after a look. */
export interface Row {
  file: string;
  /** `proposed`: nobody approved it; `changed`: its task was made of another text; `waiting`: it was not yet as it is at two looks. */
  is: 'shipped' | 'there' | 'changed' | 'proposed' | 'refused' | 'waiting';
  task: string | null;
  state: string | null;
  /** What a person should know or do. */
  note: string | null;
}

export interface Look {
  fleet: Pick<Fleet, 'shipping' | 'view'>;
  /** What is said of all tasks, laid over what a file says. */
  inputOf(file: string, input: Approved['input']): { labels?: unknown };
  /** Whether a text may be shipped now: one that is still being written may not. */
  mayShip(file: string, text: string): boolean;
}

interface Item {
  found: Found;
  proposal: Proposal;
  status: Status | undefined;
}

/** Makes tasks of what is approved and has none, and writes down how the others stand. In the order of their names, but for what waits for others. */
export async function lookOnce(files: readonly Found[], look: Look): Promise<Row[]> {
  const places = new Places();
  const items: Item[] = [];
  for (const found of unique(files))
    items.push({ found, proposal: await readProposal(found, places), status: await readStatus(found.path) });
  const approved = items.flatMap(({ proposal }) => (proposal.is === 'approved' ? proposal : []));
  const named = new Map(approved.map(({ name, task }) => [name, task]));
  const known = await look.fleet.shipping.shipped(
    items.flatMap(({ proposal, status }) => [
      ...(proposal.is === 'approved' ? [proposal.task] : []),
      ...(status?.task ? [status.task] : []),
    ]),
  );
  const rows = new Map<string, Row>();
  for (const item of needsFirst(items, named)) rows.set(item.found.shown, await settle(item, { look, named, known }));
  return items.map(({ found }) => rows.get(found.shown)!);
}

/** By two names, one of them a link, it is one file. */
const unique = (files: readonly Found[]): Found[] => [...new Map(files.map((file) => [file.path, file])).values()];

/** Those that others of them wait for come first. */
function needsFirst(items: readonly Item[], named: ReadonlyMap<string, string>): Item[] {
  const byTask = new Map(items.flatMap((one) => (one.proposal.is === 'approved' ? [[one.proposal.task, one]] : [])));
  const ordered = new Set<Item>();
  const visit = (item: Item, path: readonly Item[]): void => {
    if (path.includes(item) || item.proposal.is !== 'approved') return void ordered.add(item);
    for (const name of namesIn(item.proposal.input)) {
      const need = byTask.get(named.get(name) ?? name);
      if (need) visit(need, [...path, item]);
    }
    ordered.add(item);
  };
  for (const item of items) visit(item, []);
  return [...ordered];
}

const namesIn = ({ dependsOn }: Approved['input']): string[] => (Array.isArray(dependsOn) ? dependsOn : []);

interface Context {
  look: Look;
  /** Tasks by what their files are called. */
  named: ReadonlyMap<string, string>;
  known: ReadonlyMap<string, { state: TaskState; text: string | null }>;
}

async function settle({ found, proposal, status }: Item, context: Context): Promise<Row> {
  const { look, known } = context;
  const row: Row = {
    file: found.shown,
    is: proposal.is === 'refused' ? 'refused' : 'proposed',
    task: null,
    state: null,
    note: null,
  };
  if (proposal.is === 'refused') return refuse(found, { row: { ...row, note: proposal.why }, before: status });
  if (proposal.is === 'proposed') {
    if (!status) return row;
    const { task } = status;
    if (task === null) return forget(found, row);
    // Its task goes on, though nobody would make it now.
    const kept = { ...row, task, state: known.get(task)?.state ?? status.state };
    return write(found, { row: kept, of: { ...status, task }, before: status, look });
  }
  const remembered = status?.task === proposal.task ? status : undefined;
  const there = known.get(proposal.task);
  if (!there && !remembered) return ship(found, { proposal, context, before: status });
  return standing(found, { proposal, look, there, before: status, remembered });
}

/** Says so beside the file, unless a task of it is told of there. */
async function refuse(found: Found, { row, before }: { row: Row; before: Status | undefined }): Promise<Row> {
  if (before && before.task !== null) return { ...row, task: before.task, state: before.state };
  const status = { task: null, approval: 0, text: '', state: 'refused', note: row.note ?? '' };
  if (found.refused === undefined) await writeStatus(found.path, status, before).catch(() => undefined);
  return row;
}

async function forget(found: Found, row: Row): Promise<Row> {
  await removeStatus(found.path).catch(() => undefined);
  return row;
}

async function ship(
  found: Found,
  { proposal, context, before }: { proposal: Approved; context: Context; before: Status | undefined },
): Promise<Row> {
  const { look, named } = context;
  const { task, text } = proposal;
  const row = { file: found.shown, task: null, state: null };
  if (!look.mayShip(found.shown, text)) return { ...row, is: 'waiting', note: null };
  const dependsOn = namesIn(proposal.input).map((name) => named.get(name) ?? name);
  const input = look.inputOf(found.shown, { ...proposal.input, ...(dependsOn.length > 0 ? { dependsOn } : {}) });
  const made = await look.fleet.shipping.ship({ id: task, input, text });
  if (made.is === 'refused') return refuse(found, { row: { ...row, is: 'refused', note: made.why }, before });
  const there = (await look.fleet.shipping.shipped([task])).get(task);
  const shipped = await standing(found, { proposal, look, there, before, remembered: undefined });
  return made.is === 'created' ? { ...shipped, is: 'shipped' } : shipped;
}

interface Standing {
  proposal: Approved;
  look: Look;
  there: { state: TaskState; text: string | null } | undefined;
  /** The file beside it as it is, and as far as it is of this task. */
  before: Status | undefined;
  remembered: Status | undefined;
}

async function standing(found: Found, { proposal, look, there, before, remembered }: Standing): Promise<Row> {
  const { task, approval, text } = proposal;
  const made = there ? there.text : remembered?.text;
  const state = there?.state ?? remembered?.state ?? 'queued';
  const row: Row = { file: found.shown, is: 'there', task, state, note: null };
  if (made === null || made === undefined)
    return { ...row, is: 'refused', state: null, note: `there is a task ${task} already that no file has made` };
  const changed = made !== text;
  const note = changed
    ? `was changed after it was approved, and ${task} goes by the text of then: approved: ${approval + 1} has it done as it is now`
    : null;
  return write(found, {
    row: { ...row, is: changed ? 'changed' : 'there', note },
    of: { task, approval, text: made, state, ...(remembered?.branch ? { branch: remembered.branch } : {}) },
    before,
    look,
  });
}

interface Write {
  row: Row;
  of: Omit<Status, 'since' | 'note'> & { task: string };
  before: Status | undefined;
  look: Look;
}

/** A status that cannot be written is no reason to stop: the server knows it. */
async function write(found: Found, { row, of, before, look }: Write): Promise<Row> {
  const { task, approval, text } = of;
  const state = row.state ?? of.state;
  const news = before?.state !== state || before.task !== task;
  const branch =
    news && state === 'done' ? await branchOf(look, task) : before?.task === task ? before.branch : undefined;
  const next = {
    ...{ task, approval, text, state },
    ...(branch ? { branch } : {}),
    ...(row.note ? { note: row.note } : {}),
  };
  try {
    await writeStatus(found.path, next, before);
    return row;
  } catch (error) {
    const why = `its status cannot be written beside it (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
    return { ...row, note: row.note ? `${row.note}; ${why}` : why };
  }
}

/** Milliseconds before each look: a task that has just ended may not have said how. */
const LOOKS_MS = [0, 300, 700, 1_500];

async function branchOf(look: Look, task: string): Promise<string | undefined> {
  for (const ms of LOOKS_MS) {
    await pause(ms);
    const view = await look.fleet.view(task).catch(() => undefined);
    if (view?.partial === false) return view.branch ?? undefined;
  }
  return undefined;
}
