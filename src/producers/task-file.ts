import { parseDocument } from 'yaml';
import { wrongInputAt } from '../domain/error.ts';
import { slugOf } from '../domain/produce/plan-ids.ts';
import type { TaskInput } from '../domain/task/schema.ts';
import { readTaskFile } from './spec.ts';

/** A file that is one task: markdown with front matter, or YAML with the fields of docs/tasks.md. */
export interface TaskFile {
  /** What it says, else its name as an id. */
  id: string;
  /** The file itself says its id. */
  named: boolean;
  /** Not checked yet. */
  input: TaskInput;
  /** As it stands there; undefined where it says nothing of it. */
  approved: unknown;
}

/** What such a file's name ends in. */
export const isTaskFile = (name: string): boolean => /\.(ya?ml|md)$/i.test(name);

/** @param file for messages, and for its name @throws FleetError (2), one sentence with file and line where it is known */
export function readTask({ file, text }: { file: string; text: string }): TaskFile {
  const name = (file.split('/').at(-1) ?? file).replace(/\.[^.]*$/, '');
  return /\.md$/i.test(file) ? fromMarkdown({ file, name, text }) : fromYaml({ file, name, text });
}

function fromMarkdown(of: { file: string; name: string; text: string }): TaskFile {
  const { item, named, unsaid, approved } = readTaskFile(of);
  const objective = unsaid ? '' : [item.text, item.details].filter(Boolean).join('\n\n');
  const dependsOn = item.after?.length ? { dependsOn: [...item.after] } : {};
  const id = item.label === of.name ? slugOf(of.name) : (item.label ?? '');
  return { id, named, input: { ...item.fields, ...dependsOn, objective }, approved };
}

function fromYaml({ file, name, text }: { file: string; name: string; text: string }): TaskFile {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw wrongInputAt(file, `is no valid YAML: ${error.message.split('\n', 1)[0]!.replace(/:$/, '')}`);
  const value: unknown = document.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrongInputAt(file, 'must hold the fields of one task');
  const { id, approved, ...input } = value as TaskInput & { id?: unknown; approved?: unknown };
  return {
    id: id === undefined ? slugOf(name) : typeof id === 'string' ? id : JSON.stringify(id),
    named: id !== undefined,
    input,
    approved,
  };
}
