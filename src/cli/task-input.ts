import { resolve } from 'node:path';
import { Option } from 'commander';
import type { Order } from '../client.ts';
import { FleetError } from '../domain/error.ts';
import { isUrl, needsRepo, TASK_TYPES, type TaskType } from '../domain/task.ts';
import { number, type Cli, type Flag } from './command.ts';

/** From flags, files and lines to what a task's schema checks. The schema itself is the domain's. */

/** Each flag with the field of the task that it sets. */
const FIELDS = [
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
    field: 'scope.protect',
    about: 'these paths may not change; repeatable',
    many: true,
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

interface Fields {
  [field: string]: unknown;
}

/** The flags that were given, as fields of a task. */
export function fieldsOf(flags: TaskFlags): Fields {
  return FIELDS.reduce<Fields>((sum, { flag, field }) => {
    const value = flags[new Option(flag).attributeName() as keyof TaskFlags];
    return value === undefined ? sum : lay(sum, nest(field.split('.'), value));
  }, {});
}

/** One task from the command line. */
export function orderFromFlags(cli: Cli, { objective, flags }: { objective: string; flags: TaskFlags }): Order {
  return { input: placed(cli, { ...fieldsOf(flags), objective }), id: flags.id, key: flags.key };
}

/** Many tasks: one JSON object a line. */
export function ordersFromLines(cli: Cli, text: string, over: Fields): Order[] {
  const lines = text.split('\n').flatMap((line, index) => (line.trim() ? { line, at: `line ${index + 1}` } : []));
  if (!lines.length) throw wrong('stdin holds no task: give one JSON object a line');
  return lines.map(({ line, at }) => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw wrong(`${at}: is not valid JSON`);
    }
    return orderOf(cli, { value, at, over });
  });
}

/** One task as it was written, with the command line's flags laid over it. */
export function orderOf(cli: Cli, { value, at, over }: { value: unknown; at: string; over: Fields }): Order {
  if (!isFields(value)) throw wrong(`${at}: must be an object with the fields of a task, such as objective`);
  const { id, key, ...fields } = value;
  if (id !== undefined && typeof id !== 'string') throw wrong(`${at}: id must be text`);
  if (key !== undefined && typeof key !== 'string') throw wrong(`${at}: key must be text`);
  const verify = Array.isArray(fields['verify']) ? { verify: { commands: fields['verify'] as unknown } } : {};
  return { input: placed(cli, lay({ ...fields, ...verify }, over)), id, key, at };
}

/** With the repository: the one given, seen from where the command was typed, or the one around it. */
export function placed(cli: Pick<Cli, 'cwd'>, fields: Fields): Fields {
  const { repo, type = 'code' } = fields;
  if (typeof repo === 'string') return isUrl(repo) || !repo ? fields : { ...fields, repo: resolve(cli.cwd, repo) };
  return repo === undefined && needsRepo(type as TaskType) ? { ...fields, repo: cli.cwd } : fields;
}

/** `limits.idle must …` as `--idle must …`: people are told in the words that they typed. */
export async function inFlags<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    const { exitCode, hint } = error;
    throw new FleetError(asFlags(error.message), { exitCode, ...(hint ? { hint } : {}), cause: error });
  }
}

export function asFlags(message: string): string {
  const [, field] = /^([A-Za-z]+(?:\.[A-Za-z]+)?)(?:\[\d+\])*(?= )/.exec(message) ?? [];
  const flag =
    field === 'id' || field === 'key'
      ? `--${field}`
      : FIELDS.find((known) => known.field === field)?.flag.split(' ')[0];
  return flag ? message.replace(/^\S+/, flag) : message;
}

const wrong = (message: string): FleetError => new FleetError(message, { exitCode: 2 });
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const nest = (path: string[], value: unknown): Fields =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Fields;

/** Objects are merged, everything else is replaced. */
function lay(below: Fields, above: Fields): Fields {
  return Object.entries(above).reduce((sum, [key, value]) => {
    const under = sum[key];
    return { ...sum, [key]: isFields(value) && isFields(under) ? lay(under, value) : value };
  }, below);
}
