import { LineCounter, parseDocument } from 'yaml';
import { wrongInputAt } from '../domain/error.ts';
import { taskInput } from '../domain/task/schema.ts';

/** What stands at the top of a spec, between lines of dashes. */

export const FIELDS: readonly string[] = Object.keys(taskInput.shape);
const FRONT = new Set([...FIELDS, 'name', 'order', 'id', 'approved']);
const LISTS = new Set(['verify', 'artifacts', 'labels', 'env', 'agentTools']);

export const listOf = (value: unknown): string[] => (value === undefined ? [] : [value].flat().map(String));

/** One value may stand for a list of one. */
export const withLists = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      LISTS.has(field) && typeof value === 'string' ? [value] : value,
    ]),
  );

interface Front {
  there: boolean;
  fields: Record<string, unknown>;
  body: string;
  /** The body's first line, from 1. */
  bodyLine: number;
  lineOf(field: string): number;
}

export function readFront(file: string, text: string): Front {
  const plain = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const [all, yaml] = /^---[ \t]*\n([^]*?)(?:\n|^)(?:---|\.\.\.)[ \t]*(?:\n|$)/m.exec(plain) ?? [];
  if (all === undefined || yaml === undefined || !plain.startsWith('---'))
    return { there: false, fields: {}, body: plain, bodyLine: 1, lineOf: () => 1 };
  const counter = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: counter });
  const [error] = document.errors;
  const line = (offset: number): number => counter.linePos(offset).line + 1;
  if (error)
    throw wrongInputAt(
      `${file}:${line(error.pos[0])}`,
      `the front matter is no valid YAML: ${firstLine(error.message)}`,
    );
  const value: unknown = document.toJS() ?? {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw wrongInputAt(`${file}:2`, 'the front matter must be fields with values');
  const offsets = new Map<string, number>();
  const { contents } = document as { contents?: { items?: { key?: { value?: unknown; range?: [number] } }[] } | null };
  for (const { key } of contents?.items ?? []) if (key?.range) offsets.set(String(key.value), key.range[0]);
  const lineOf = (field: string): number => line(offsets.get(field) ?? 0);
  for (const field of Object.keys(value as object))
    if (!FRONT.has(field)) throw wrongInputAt(`${file}:${lineOf(field)}`, `${field} is not a known field`);
  return {
    there: true,
    fields: value as Record<string, unknown>,
    body: plain.slice(all.length),
    bodyLine: all.split('\n').length,
    lineOf,
  };
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!.replace(/:$/, '');
