import { priceNotes } from '../../domain/agent/cost.ts';
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { sha256 } from '../../adapters/sha256.ts';
import { BUILTIN_CODERS } from '../../config.ts';
import { cycleIn } from '../../domain/scheduling/dependencies.ts';
import { FleetError, wrongInput, notFound } from '../../domain/error.ts';
import { mergePolicy } from '../../domain/repository/repo-policy.ts';
import { isChecked } from '../../domain/artifact/artifact.ts';
import { doneByOf, type DoneBy } from '../../domain/evidence/done-by.ts';
import { claimQueue, isTaskId, taskIdOf } from '../../domain/names.ts';
import type { Task } from '../../domain/task/schema.ts';
import { parseTask } from '../../domain/task/parse.ts';
import { titleOf } from '../../domain/task/title.ts';
import { isPath } from '../../domain/repository/repository-name.ts';
import type { CredentialRecord } from '../../domain/scheduling/seats.ts';
import { findCredential } from '../fleet/credentials.ts';
import { pollersOf } from '../fleet/queues.ts';
import { pinRepo, type Pinned } from './repo.ts';
import { refuseOther } from './start.ts';
import { describeTask } from '../read/view.ts';
import { variableRefused } from './variables.ts';
import { codersOf, listWorkers, type FleetWorker } from '../fleet/workers.ts';
import type { FleetConnection } from '../connection.ts';

/** A task to start: the task's own fields, checked here, and the id where it is not to be made up. */
export interface Order {
  input: unknown;
  id?: string | undefined;
  /** The caller's own: the task's id is made from it, so that what is told twice makes one task. */
  key?: string | undefined;
  /** Where it was written, for messages: `line 3`. */
  at?: string | undefined;
  /** Set for a follow-up alone, once it has been narrowed: what no task says of itself. */
  handedOff?: Pick<Task, 'parent' | 'proposed'> | undefined;
}

export interface Admitted {
  id: string;
  task: Task;
  key?: string;
  /** What its owner should know of where it starts, a sentence each. */
  notes: string[];
  /** What it will be done by, as far as is known here. */
  doneBy: DoneBy[];
}

/**
 * Everything that can be known to be wrong before anything is created. Facts are asked for once a batch.
 * @throws FleetError (2), one sentence that starts with `at` and names the field
 */
export async function admitTasks(wire: FleetConnection, orders: readonly Order[]): Promise<Admitted[]> {
  const facts = new Facts(wire);
  const ids = new Set<string>();
  const admitted: Admitted[] = [];
  for (const order of orders) {
    await told(order, async () => {
      const one = await admit(facts, order);
      if (ids.has(one.id)) throw wrongInput(`${order.key ? 'the key of' : 'id'} ${one.id} is given twice`);
      ids.add(one.id);
      admitted.push(one);
    });
  }
  for (const [index, one] of admitted.entries()) await told(orders[index]!, () => checkNeeds(facts, one, ids));
  const cycle = cycleIn(new Map(admitted.map(({ id, task }) => [id, task.dependsOn])));
  if (cycle) throw wrongInput(`dependsOn leads in a circle: ${cycle.join(' → ')}`);
  return admitted;
}

async function told({ at }: Order, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    throw at && error instanceof FleetError ? located(error, at) : error;
  }
}

/** What it waits for must be in the same batch, or there already. */
async function checkNeeds(facts: Facts, { task }: Admitted, batch: ReadonlySet<string>): Promise<void> {
  for (const [index, id] of task.dependsOn.entries()) {
    if (batch.has(id) || (await facts.find(id))) continue;
    throw notFound(`dependsOn[${index}] ${id} is unknown: there is no such task`);
  }
}

async function admit(facts: Facts, { input, id: asked, key, handedOff }: Order): Promise<Admitted> {
  const parsed = parseTask(input);
  if (!parsed.ok) throw wrongInput(parsed.message);
  const own = (['parent', 'proposed'] as const).find((field) => parsed.task[field] !== undefined);
  if (own) throw wrongInput(`${own} must be left out: fleet hand-off makes the follow-up of a task`);
  if (asked !== undefined && key !== undefined)
    throw wrongInput('id and key cannot be used together: a key makes the id');
  if (key !== undefined && !KEY.test(key)) throw wrongInput('key must be one line of 1 to 200 characters');
  const id = key === undefined ? asked : taskIdOfKey(key);
  if (id !== undefined) {
    if (!isTaskId(id))
      throw wrongInput(
        `id ${JSON.stringify(id)} must be lower-case words joined by ".", "_" or "-", 64 characters at most`,
      );
    const there = await facts.find(id);
    if (there) await refuseOther(there, { id, task: parsed.task, ...(key === undefined ? {} : { key }) });
  }
  await checkQueue(facts, parsed.task);
  const pinned = await withCredential(facts, parsed.task);
  await checkCoders(facts, pinned);
  const refused = variableRefused(pinned, pinned.env.length > 0 ? await facts.workers() : []);
  if (refused) throw wrongInput(refused);
  const { task, notes, file, read } = await facts.pinned(pinned);
  await checkRules(facts, task, read);
  return {
    id: id ?? taskIdOf(titleOf(task), randomPart()),
    task: { ...task, ...handedOff },
    ...(key === undefined ? {} : { key }),
    notes: [...notes, ...priceNotes(task, facts.wire.config.prices)],
    doneBy: doneByOf(task, mergePolicy(task, file)),
  };
}

async function checkQueue(facts: Facts, { queue }: Task): Promise<void> {
  const { config } = facts.wire;
  if (config.queues.includes(queue) || config.worker.queues.includes(queue)) return;
  if (await facts.isServed(queue)) return;
  throw notFound(`queue ${queue} is neither configured here (queues) nor polled by an attached worker`);
}

/** The task's own, and its reviewer. */
async function checkCoders(facts: Facts, task: Task): Promise<void> {
  const known = [...new Set([...BUILTIN_CODERS, ...Object.keys(facts.wire.config.coders)])];
  for (const [field, coder] of Object.entries({ coder: task.coder, 'review.coder': task.review?.coder })) {
    if (coder === undefined || known.includes(coder) || (await facts.isCoder(coder, task))) continue;
    const others = 'nor of any worker that the server knows';
    throw wrongInput(`${field} ${coder} is unknown: neither one of ${known.join(', ')} ${others}`);
  }
}

/** What cannot be read here is read by its worker. */
async function checkRules(facts: Facts, task: Task, read: Pinned['read']): Promise<void> {
  const known = task.artifacts.map(({ schema, ...rest }) => ({
    ...rest,
    ...(typeof schema === 'object' || (schema !== undefined && read) ? { schema } : {}),
  }));
  if (!known.some(isChecked)) return;
  const { readRules } = await import('../../adapters/artifacts/read-rules.ts');
  const rules = await facts.once(`rules ${JSON.stringify([task.repo, task.base, task.machine, known])}`, () =>
    readRules(known, read ?? nothing),
  );
  if (!rules.ok) throw wrongInput(rules.message);
}

const nothing = (): Promise<undefined> => Promise.resolve(undefined);

/** A credential is of one coder: its task waits for workers that have that. */
async function withCredential(facts: Facts, task: Task): Promise<Task> {
  const { credential } = task;
  if (!credential) return task;
  const { credentials } = facts.wire.config;
  const coder = credentials[credential]?.coder ?? (await facts.credential(credential))?.coder;
  if (!coder) {
    const known = Object.keys(credentials);
    const here = known.length ? `neither one of ${known.join(', ')}` : 'neither one of config.yaml here';
    throw wrongInput(`credential ${credential} is unknown: ${here} nor named by any worker, see fleet credentials`);
  }
  if (task.coder && task.coder !== coder)
    throw wrongInput(`credential ${credential} must be one of coder ${task.coder}: it is of ${coder}`);
  return { ...task, coder };
}

/** What checks need to know, each asked for once. */
class Facts {
  readonly wire: FleetConnection;
  readonly #known = new Map<string, Promise<unknown>>();

  constructor(wire: FleetConnection) {
    this.wire = wire;
  }

  isServed(queue: string): Promise<boolean> {
    return this.once(`queue ${queue}`, () => soon(() => this.#polled(queue, 'workflows')));
  }

  /** Asks all workers that have a record: a full one polls no claim queue, and one that is away may come back. */
  isCoder(coder: string, { queue, repo, machine }: Task): Promise<boolean> {
    const queues = [claimQueue({ queue, coder }), ...(isPath(repo) ? [claimQueue({ queue, machine, coder })] : [])];
    const isThere = async (): Promise<boolean> => {
      if ((await codersOf(this.wire)).has(coder)) return true;
      const polled = await Promise.all(queues.map((one) => this.#polled(one, 'claims')));
      return polled.includes(true);
    };
    return this.once(`coder ${queues.join(' ')}`, () => soon(isThere));
  }

  workers = (): Promise<FleetWorker[]> => this.once('workers', () => listWorkers(this.wire));

  credential(name: string): Promise<CredentialRecord | undefined> {
    return this.once(`credential ${name}`, () => soon(() => findCredential(this.wire, name)));
  }

  async #polled(queue: string, side: 'claims' | 'workflows'): Promise<boolean> {
    return (await pollersOf(this.wire, queue, side)).length > 0;
  }

  async pinned(task: Task): Promise<Omit<Pinned, 'pin'> & { task: Task }> {
    const { repo, machine, base, continueFrom, deliver, into, cwd, submodules, verify, scope } = task;
    const at = [repo, machine, base, continueFrom, deliver, into, cwd, submodules, verify, scope];
    const key = JSON.stringify(['repo', ...at]);
    const { pin, ...known } = await this.once(key, () => pinRepo(task, this.wire.config));
    return { task: { ...task, ...pin }, ...known };
  }

  async find(id: string): Promise<WorkflowExecutionDescription | undefined> {
    try {
      return await describeTask(this.wire, id);
    } catch (error) {
      if (error instanceof FleetError) return undefined;
      throw error;
    }
  }

  once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = (this.#known.get(key) as Promise<T> | undefined) ?? ask();
    this.#known.set(key, known);
    return known;
  }
}

/** Milliseconds before each look. */
const LOOKS_MS = [0, 500, 1_000, 1_500];

/** What a worker brought that came seconds ago is not known at once. */
async function soon<T>(look: () => Promise<T>): Promise<T> {
  let found: T | undefined;
  for (const ms of LOOKS_MS) {
    await pause(ms);
    found = await look();
    if (found) break;
  }
  return found as T;
}

const KEY = /^[^\p{Cc}]{1,200}$/u;
const taskIdOfKey = (key: string): string => taskIdOf(key, sha256(key).slice(0, 16));

function located(error: FleetError, at: string): FleetError {
  const { code, hint, cause } = error;
  return new FleetError(code, `${at}: ${error.message}`, { hint, cause });
}

/** Six letters and digits without those that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const randomPart = (): string => Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
