import type { PlannedTask } from '../../domain/produce/plan.ts';
import type { TaskState } from '../../domain/task/state.ts';
import { oneLine, paintState, type Paint } from '../output/text.ts';

const TITLE = 70;
const VALUE = 300;

/** The tasks below their headings, with what each waits for, and what the spec sets beyond their text. */
export function planTree(
  tasks: readonly PlannedTask[],
  { there, paint }: { there: ReadonlyMap<string, TaskState>; paint: Paint },
): string {
  const ofEach = tasks.map(fieldsSaid);
  const ofAll = tasks.length > 1 ? ofEach[0]!.filter((said) => ofEach.every((own) => own.includes(said))) : [];
  const lines: string[] = ofAll.length > 0 ? [`each with ${ofAll.join('; ')}`] : [];
  let above: readonly string[] = [];
  for (const [index, { id, title, path, dependsOn }] of tasks.entries()) {
    const same = path.findIndex((heading, depth) => heading !== above[depth]);
    for (const [depth, heading] of path.entries())
      if (same >= 0 && depth >= same) lines.push(`${'  '.repeat(depth)}${paint('bold', oneLine(heading, TITLE))}`);
    above = path;
    const state = there.get(id);
    const facts = [
      dependsOn.length > 0 && paint('dim', `after ${dependsOn.join(', ')}`),
      ...ofEach[index]!.filter((said) => !ofAll.includes(said)),
      state && `there already: ${paintState(paint, state)}`,
    ].filter(Boolean);
    lines.push(
      `${'  '.repeat(path.length)}${id}  ${oneLine(title, TITLE)}${facts.length ? `  (${facts.join('; ')})` : ''}`,
    );
  }
  return lines.join('\n') || 'no open tasks';
}

/** They are shown as the tree itself, or say what is to be done. */
const NOT_SAID = new Set(['title', 'objective', 'context', 'dependsOn']);

const fieldsSaid = ({ fields }: PlannedTask): string[] =>
  Object.entries(fields)
    .filter(([field]) => !NOT_SAID.has(field))
    .map(([field, value]) => oneLine(`${field}: ${textOf(value)}`, VALUE));

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? value.join(', ')
    : JSON.stringify(value);
}
