import { TASK_TYPES } from '../../domain/task/schema.ts';
import { number, type Flag } from '../command.ts';

/** Each flag with the field of the task that it sets. */
export const FIELDS = [
  {
    flag: '--title <title>',
    field: 'title',
    about: 'one line for lists (default: the first line of the objective)',
  },
  { flag: '--type <type>', field: 'type', about: `${TASK_TYPES.join(', ')} (default: code)` },
  { flag: '--queue <queue>', field: 'queue', about: 'the queue it waits in (default: fleet)' },
  { flag: '--repo <path-or-url>', field: 'repo', about: 'git repository (default: the one you are in)' },
  { flag: '--cwd <folder>', field: 'cwd', about: 'where --verify runs, from the top (default: where you are)' },
  { flag: '--submodules <which>', field: 'submodules', about: 'check out all or none of them (default: all)' },
  { flag: '--base <ref>', field: 'base', about: 'branch, tag or commit to start from (default: HEAD)' },
  {
    flag: '--continue-from <ref>',
    field: 'continueFrom',
    about: 'unfinished work to go on from, all of which is judged',
  },
  {
    flag: '--coder <name>',
    field: 'coder',
    about: 'claude, codex, gemini … or one from config.yaml (default: the worker chooses)',
  },
  { flag: '--model <name>', field: 'model', about: "the coder's model" },
  {
    flag: '--credential <name>',
    field: 'credential',
    about: "the account to run under (default: any of the coder's that has a seat)",
  },
  {
    flag: '--priority <n>',
    field: 'priority',
    about: '0 (critical) to 100 (can wait) (default: 50)',
    parse: number,
  },
  { flag: '--allow <glob>', field: 'scope.allow', about: 'only these paths may change; repeatable', many: true },
  {
    flag: '--protect <glob>',
    field: 'scope.protect.paths',
    about: 'these paths may not change; repeatable',
    many: true,
  },
  {
    flag: '--protect-new <what>',
    field: 'scope.protect.new',
    about: 'a new file there is set-aside when the result is checked, or refuse (default: set-aside)',
  },
  {
    flag: '--verify <command>',
    field: 'verify.commands',
    about: 'must pass in a fresh checkout of the result; repeatable',
    many: true,
  },
  {
    flag: '--review <coder>',
    field: 'review.coder',
    about: 'another agent that may say no to the result',
  },
  {
    flag: '--artifacts <glob>',
    field: 'artifacts',
    about: 'files that must exist in the result; repeatable',
    many: true,
  },
  { flag: '--total <duration>', field: 'limits.total', about: 'longest time of one run (default: 2h)' },
  {
    flag: '--idle <duration>',
    field: 'limits.idle',
    about: 'longest time without any sign of work (default: 10m)',
  },
  { flag: '--tokens <n>', field: 'limits.tokens', about: 'most tokens of one run', parse: number },
  { flag: '--cost <usd>', field: 'limits.costUsd', about: 'highest cost of one run in USD', parse: number },
  {
    flag: '--max-attempts <n>',
    field: 'retry.maxAttempts',
    about: 'runs before it is parked (default: 3)',
    parse: number,
  },
  {
    flag: '--backoff <duration>',
    field: 'retry.backoff',
    about: 'wait before the next run, doubled each time (default: 30s)',
  },
  { flag: '--deliver <how>', field: 'deliver', about: 'branch, pr, merge or none (default: branch)' },
  {
    flag: '--into <branch>',
    field: 'into',
    about: 'what pr and merge are for (default: the default branch)',
  },
  { flag: '--draft', field: 'pr.draft', about: 'the pull request is a draft' },
  {
    flag: '--until <when>',
    field: 'pr.until',
    about: 'the task is done with its pull request opened, green or merged (default: green)',
  },
  {
    flag: '--approval <when>',
    field: 'approval',
    about: 'a person has to say yes: before-run, before-deliver, both or never (default: never)',
  },
  {
    flag: '--needs <id>',
    field: 'dependsOn',
    about: 'a task that comes first; repeatable',
    many: true,
  },
  {
    flag: '--on-dependency-failure <what>',
    field: 'onDependencyFailure',
    about: 'wait, cancel or run, where one of them fails or is parked (default: wait)',
  },
  {
    flag: '--scope-overlap <how>',
    field: 'overlap',
    about: 'serialize: not while another such task runs whose --allow overlaps (default: allow)',
  },
  { flag: '--producer <name>', field: 'producer', about: 'who wants it: producers take turns' },
  {
    flag: '--ageing <duration>',
    field: 'ageing',
    about: 'waiting so long counts as 20 less of --priority (default: 1h)',
  },
  { flag: '--for <name>', field: 'for', about: 'waits for an agent outside the fleet, of this name' },
  { flag: '--label <label>', field: 'labels', about: 'for lists; repeatable', many: true },
  {
    flag: '--env <name>',
    field: 'env',
    about: "a variable of the worker's that the agent may see; repeatable",
    many: true,
  },
  {
    flag: '--network <what>',
    field: 'network',
    about:
      'no more than this of what the worker lets its agent reach: none, model, registries, repository, open or a host; repeatable',
    many: true,
  },
] as const satisfies (Flag & { field: string })[];

/** What the parser calls the value of a flag: `--max-attempts <n>` gives `maxAttempts`. */
type NameOf<F extends string> = F extends `--${infer Long} ${string}`
  ? CamelCase<Long>
  : F extends `--${infer Long}`
    ? CamelCase<Long>
    : never;
type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

export type TaskFlags = { [Flag in (typeof FIELDS)[number]['flag'] as NameOf<Flag>]?: unknown } & {
  id?: string;
  key?: string;
};

export const TASK_FLAGS: Flag[] = [
  ...FIELDS,
  { flag: '--id <id>', about: 'the task id (default: made from the title)' },
  { flag: '--key <key>', about: 'your own: the same key again is the same task, and no second one is made' },
];
