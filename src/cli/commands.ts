import type { CommandName } from './load-command.ts';

/** A line of `fleet --help`. */
export interface Entry {
  /** As typed, e.g. `task log` for `fleet task <id> log`. */
  name: CommandName;
  /** Lower case. */
  about: string;
  /** In commander's notation, e.g. `<id>`; the last may be variadic. */
  args?: string;
}

const ENTRIES: Record<CommandName, Omit<Entry, 'name'>> = {
  demo: { about: 'run the whole thing here, with small agents that behave and misbehave: no account needed' },
  up: { about: "Temporal's dev server, if none answers, and one worker, until Ctrl-C" },
  run: { args: '<objective>', about: 'enqueue a task here and follow it to its verdict' },
  compare: {
    args: '[objective]',
    about: 'the same task on several coders, side by side: verdict, time, tokens, cost, size',
  },
  enqueue: { args: '[words...]', about: 'put a task into a queue and print its id' },
  'hand-off': {
    args: '<id> <objective>',
    about: 'make a follow-up of a task, for another coder or an agent outside the fleet, and print its id',
  },
  plan: {
    args: '[spec]',
    about: 'turn a spec into tasks that wait for each other: shown first, put into the queue after a yes',
  },
  ship: {
    args: '[paths...]',
    about: 'make tasks of the files that a person approved, once each, and write beside each how its task stands',
  },
  sync: { args: '<url>', about: 'work off a queue that is a git repository: report, claim, enqueue' },
  'sync add': { args: '<url> <description>', about: 'put a task into a git queue and print its id' },
  'sync list': { args: '<url>', about: 'what is in a git queue' },
  'sync claim': { args: '<url> <id>', about: 'take a task of a git queue for somebody outside of the fleet' },
  'sync complete': { args: '<url> <id>', about: 'say what became of a task of a git queue that was claimed so' },
  tasks: { about: 'open tasks, and the 20 that closed last' },
  graph: { about: 'which tasks wait for which, and how they stand' },
  task: { args: '<id> [action]', about: 'everything about one task, and what to do with it' },
  inbox: { about: 'all that waits for a person: approvals, questions and parked tasks, each with what to type' },
  cancel: { args: '[ids...]', about: 'stop the agents of tasks and close them as cancelled' },
  explain: {
    args: '<id>',
    about: 'why a task is not running, or not done, in one sentence, and what it will be done by',
  },
  merges: { about: 'the merge queues, and what waits in them' },
  stats: { about: 'tasks, accepted and rejected, their time, tokens and cost, and what an accepted task costs' },
  workers: { about: 'attached workers, their slots, coders and runs, and those that were lost or owe something' },
  worker: { about: 'attach this machine: claim tasks and run their agents' },
  'worker drain': { args: '<name>', about: 'let a worker finish its runs and then end, with a report' },
  'worker pause': { args: '<name>', about: 'let a worker take no new work; its runs go on' },
  'worker resume': { args: '<name>', about: 'withdraw what a worker was ordered' },
  invite: { args: '<name>', about: 'the one command that makes another machine a worker of this fleet' },
  'worker install': {
    about: 'let this machine start a worker by itself: a service of systemd or launchd, or a line for cron',
  },
  'worker status': { about: 'the services here that run workers, and what is wrong with them' },
  'worker uninstall': { about: 'end such a worker and take its service away' },
  schedule: {
    args: '[words...]',
    about: 'tasks that are put into the queue on a calendar: add, list, show, pause, resume, trigger, remove',
  },
  'schedule add': { args: '<name> [objective]', about: 'put a task into the queue again and again' },
  'schedule list': { about: 'the schedules that there are' },
  'schedule show': { args: '<name>', about: 'everything about one schedule' },
  'schedule pause': { args: '<name>', about: 'make no more tasks; those that are there go on' },
  'schedule resume': { args: '<name>', about: 'make tasks again; none is made up' },
  'schedule trigger': { args: '<name>', about: 'make its next task now, also where it is paused' },
  'schedule remove': { args: '<name>', about: 'forget it; its tasks stay' },
  patrol: {
    args: '[words...]',
    about: 'look at the queue once, or every so often: alert, nudge, and take from the backlog when idle',
  },
  'patrol status': { about: 'whether it goes, and what the last round saw and did' },
  credentials: { about: 'accounts that coders run under: their seats, limits and use' },
  'credentials ok': { args: '<name>', about: 'say that a credential which was refused, or rests, is as it should be' },
  pause: { about: 'let no worker take new work; runs go on' },
  resume: { about: 'take new work again after fleet pause or fleet stop' },
  stop: { about: 'emergency: end every agent of every worker within 30 seconds' },
  rollback: { about: `what workers did that the server's database, an older copy by now, does not know` },
  'rollback accept': { about: `go on with the server's database as it is, after it was rolled back` },
  'channel run': { args: '[name]', about: 'let people talk to the fleet in a chat: telegram, or this terminal' },
  list: { about: 'tasks for an agent outside the fleet: what waits for it, and what it holds' },
  claim: { args: '<id>', about: 'take a task that is for an agent outside the fleet, or renew its lease' },
  complete: { args: '<id>', about: 'hand in the result of a task that an agent outside the fleet holds' },
  fail: {
    args: '<id>',
    about: 'say that a task which an agent outside the fleet holds cannot be done: a person decides',
  },
  'receipts verify': { args: '<bundle>', about: 'check a bundle of receipts offline, with a file of trusted keys' },
  'receipts export': { args: '<id>', about: "a run's signed bundle of receipts, to keep and to show" },
  'receipts keys': { about: "write the file of trusted keys from the workers' records" },
  seal: { args: '<file>', about: 'encrypt a held-out check, so that only the named workers can read it' },
  mcp: { about: 'serve the queue to an agent of yours, by the Model Context Protocol on stdin and stdout' },
  doctor: { about: 'what a worker would find on this machine: programs, coders, logins, isolation, the server' },
  'doctor context': {
    about:
      'what agent CLIs here would load into every conversation, what it costs, and what agents of the fleet get of it',
  },
  clean: {
    args: '[ids...]',
    about: 'remove what this machine keeps of finished tasks beyond its age, or of the tasks that are named',
  },
  'config show': { about: 'the settings in effect, and where each comes from' },
  'config set': { args: '<key=value>', about: 'set one key in config.yaml; its comments stay' },
  // fleet task <id> …
  'task log': { args: '<id>', about: "what a run's agent prints, as it is" },
  'task events': { args: '<id>', about: "a run's output as events: text, tool calls, usage, the end" },
  'task stderr': { args: '<id>', about: "what a run's agent said on stderr" },
  'task check': { args: '<id>', about: 'all that the acceptance commands printed on a result, up to 8 MB' },
  'task plan': { args: '<id>', about: "the agent's PLAN_AND_STATUS.md" },
  'task knowledge': { args: '<id>', about: "the agent's KNOWLEDGE.md" },
  'task diff': { args: '<id>', about: "a run's result as a patch; without one, what was saved of its work" },
  'task work': {
    args: '<id>',
    about: 'what its runs left that was not delivered: show it, make a branch of it, continue it as a new task',
  },
  'task receipts': { args: '<id>', about: 'the evidence of the last run, and the verdict on it' },
  'task wait': { args: '<id>', about: 'wait until the task is closed, or parked for a person' },
  'task cancel': { args: '<id>', about: 'stop its agent and close it as cancelled; several: fleet cancel' },
  'task retry': { args: '<id>', about: 'of a parked task: try again, its attempts counted from zero' },
  'task accept': { args: '<id>', about: "of a parked task: deliver what was rejected, on a person's word" },
  'task give-up': { args: '<id>', about: 'of a parked task: close it as failed' },
  'task approve': {
    args: '<id>',
    about: 'of a task that waits for approval: let it run, or let its result be delivered',
  },
  'task reject': { args: '<id>', about: 'of a task that waits for approval: say no, and why' },
  'task answer': { args: '<id> <answer>', about: 'answer what its agent asks' },
  'task priority': {
    args: '<id> <priority>',
    about: 'change how urgent it is, also while it waits: 0 (critical) to 100 (can wait)',
  },
  'task needs': { args: '<id>', about: 'which tasks come first: shown, or changed as long as no agent works on it' },
};

/** Every command, in the order of `fleet --help`. */
export const COMMANDS: readonly Entry[] = Object.entries(ENTRIES).map(([name, entry]) => ({
  name: name as CommandName,
  ...entry,
}));
