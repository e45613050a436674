import type { Fleet, TaskInput } from '../../client.ts';
import { isClosed } from '../../domain/scheduling/dependencies.ts';
import { wrongInput, notFound } from '../../domain/error.ts';
import { taskIdOf } from '../../domain/names.ts';
import { orderSentence } from '../../domain/worker/worker.ts';
import type { Channel, Incoming } from '../port.ts';
import { taskMessage } from './messages.ts';
import type { People } from './people.ts';
import { clip, line, plain } from './text.ts';

/** What somebody typed behind a command. */
export interface Said {
  text: string;
  event: Extract<Incoming, { kind: 'message' }>;
  by: string;
  /** Names this message alone: a task's id is made of it. */
  key: string;
  fleet: Fleet;
  people: People;
  channel: Channel;
}

/** `follow`: id of a task whose message is kept up to date from now on. */
interface Answer {
  reply?: string;
  follow?: string;
}

export const HELP = `/fleet <objective>: a new task; /fleet @alias <objective>: in that repository
/tasks: what is under way
/task <id>: everything about one
/inbox: what waits for a person
/cancel <id>
/pause, /resume: no new work, and again
/stop: end all agents now
To answer, tap a button or reply to the message that asks.`;

/** By name; each does what the command of that name at a terminal does. @throws FleetError with what to tell */
export const COMMANDS: Readonly<Record<string, (said: Said) => Promise<Answer>>> = {
  start: () => Promise.resolve({ reply: HELP }),
  help: () => Promise.resolve({ reply: HELP }),
  fleet: enqueue,
  tasks,
  task: async ({ fleet, text }) => {
    const report = await fleet.view(needed(text, 'task'));
    const { receipts } = report;
    const shown = receipts.map(({ kind, ok, summary }) => `${ok ? 'ok' : 'NOT OK'} ${kind}: ${line(summary)}`);
    return { reply: [taskMessage(report), clip(plain(report.objective), 1_000), ...shown].join('\n') };
  },
  inbox: async ({ fleet }) => {
    const items = await fleet.inbox();
    const shown = items.map(({ id, kind, text }) => `${id} (${kind}): ${line(text)}`);
    return { reply: shown.length > 0 ? shown.join('\n') : 'No task waits for a person.' };
  },
  cancel: async ({ fleet, text }) => {
    const id = needed(text, 'cancel');
    await fleet.cancel(id);
    return { reply: `Task ${id} is being cancelled.` };
  },
  pause: async ({ fleet, text, by }) => {
    await fleet.orders.all({ mode: 'pause', by, why: line(text) });
    return { reply: 'The fleet takes no new work, and its runs go on: /resume.' };
  },
  resume: async ({ fleet, by }) => {
    const { withdrawn, orders } = await fleet.orders.resumeAll(by);
    const others = orders.map(
      ({ worker, ...order }) => `Worker ${worker} is ${orderSentence(order, worker ?? undefined)}`,
    );
    return {
      reply: [withdrawn ? 'The fleet takes new work again.' : 'There was no order to all workers.', ...others].join(
        '\n',
      ),
    };
  },
  stop: async ({ fleet, text, by }) => {
    await fleet.orders.all({ mode: 'stop', by, why: line(text) });
    return { reply: 'All agents are ended within 30 seconds; their tasks wait for /resume.' };
  },
};

const SHOWN = 25;

async function tasks({ fleet }: Said): Promise<Answer> {
  const reports = await fleet.list();
  const open = reports.filter(({ state }) => !isClosed(state));
  const closed = reports.filter(({ state }) => isClosed(state)).slice(0, 5);
  const lines = [...open.slice(0, SHOWN), ...closed].map(
    ({ id, state, title }) => `${state} ${id}: ${line(title, 80)}`,
  );
  const more = open.length - SHOWN;
  return {
    reply: [...lines, ...(more > 0 ? [`and ${more} more that are open`] : [])].join('\n') || 'There are no tasks.',
  };
}

async function enqueue({ fleet, text, event, key, people, channel }: Said): Promise<Answer> {
  const [, named, rest] = /^@([A-Za-z0-9][\w.-]*)\s+([^]*)$/.exec(text) ?? [];
  const objective = (rest ?? text).trim();
  if (!objective) throw wrongInput('Say what is to be done: /fleet <objective>.');
  if (event.files.length > 0) throw wrongInput('Files cannot be taken yet: say it in words.');
  const known = Object.keys(people.repos).map((alias) => `@${alias}`);
  const which = known.length > 0 ? `one of ${known.join(', ')}` : 'none is configured in channels.repos';
  const alias = named ?? people.chats.get(event.chat) ?? people.defaultRepo;
  if (alias === undefined) throw wrongInput(`This chat has no repository of its own: name ${which}.`);
  const chosen = people.repos[alias];
  if (chosen === undefined) throw notFound(`There is no repository @${line(alias, 40)}: name ${which}.`);
  const fields: Partial<TaskInput> = typeof chosen === 'string' ? { repo: chosen } : chosen;
  const id = taskIdOf(objective.split('\n', 1)[0]!, key);
  const made = await fleet.channel.enqueueOnce({ id, input: { producer: channel.name, ...fields, objective } });
  if (made.is === 'refused') throw wrongInput(`No task was made: ${made.why}.`);
  // A client sends what is longer as a second message.
  const cut = event.text.length >= channel.longest ? { reply: CUT } : {};
  return { follow: id, ...cut };
}

const CUT = 'Your message is as long as a message can be: what came after it is not part of the task.';

function needed(text: string, command: string): string {
  const [id = '', ...more] = text.split(/\s+/);
  if (!id || more.length > 0) throw wrongInput(`Say which task, and nothing else: /${command} <id>.`);
  return id;
}
