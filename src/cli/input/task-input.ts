import { resolve } from 'node:path';
import { Option } from 'commander';
import type { Order } from '../../client.ts';
import { FleetError, wrongInput } from '../../domain/error.ts';
import type { TaskType } from '../../domain/task/schema.ts';
import { needsRepo } from '../../domain/task/validation.ts';
import { isUrl } from '../../domain/repository/repository-name.ts';
import type { Cli } from '../command.ts';
import { FIELDS, TASK_FLAGS, type TaskFlags } from './task-flags.ts';

/** From flags, files and lines to what a task's schema checks. The schema itself is the domain's. */

export { TASK_FLAGS, type TaskFlags };

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
  if (!lines.length) throw wrongInput('stdin holds no task: give one JSON object a line');
  return lines.map(({ line, at }) => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw wrongInput(`${at}: is not valid JSON`);
    }
    return orderOf(cli, { value, at, over });
  });
}

/** One task as it was written, with the command line's flags laid over it. */
export function orderOf(cli: Cli, { value, at, over }: { value: unknown; at: string; over: Fields }): Order {
  if (!isFields(value)) throw wrongInput(`${at}: must be an object with the fields of a task, such as objective`);
  const { id, key, ...fields } = value;
  if (id !== undefined && typeof id !== 'string') throw wrongInput(`${at}: id must be text`);
  if (key !== undefined && typeof key !== 'string') throw wrongInput(`${at}: key must be text`);
  return { input: placed(cli, lay(inFull(fields), over)), id, key, at };
}

/** With what is short for an object as that object, so that flags can be laid over a part of it. */
function inFull(fields: Fields): Fields {
  const { verify, scope } = fields;
  const protect = isFields(scope) ? scope['protect'] : undefined;
  return {
    ...fields,
    ...(Array.isArray(verify) ? { verify: { commands: verify as unknown } } : {}),
    ...(isFields(scope) && Array.isArray(protect)
      ? { scope: { ...scope, protect: { paths: protect as unknown } } }
      : {}),
  };
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
    const { code, hint, message } = error;
    throw new FleetError(code, asFlags(message), { hint, cause: error });
  }
}

export function asFlags(message: string): string {
  const [, field] = /^([A-Za-z]+(?:\.[A-Za-z]+)*)(?:\[\d+\])*(?= )/.exec(message) ?? [];
  const flag =
    field === 'id' || field === 'key'
      ? `--${field}`
      : FIELDS.find((known) => known.field === field)?.flag.split(' ')[0];
  return flag ? message.replace(/^\S+/, flag) : message;
}

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
