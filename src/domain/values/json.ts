/** Reading of JSON that a program printed or sent: nothing in it is taken for granted, and nothing here throws. */

export type Json = Record<string, unknown>;

export const TEXT_MAX = 4_000;
export const TOOL_MAX = 2_000;
const LABEL_MAX = 200;

/** The object on this line; undefined for anything else, e.g. a warning in plain text. */
export function parseObject(line: string): Json | undefined {
  try {
    return object(JSON.parse(line));
  } catch {
    return undefined;
  }
}

export const object = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

export const objects = (value: unknown): Json[] =>
  Array.isArray(value) ? value.map(object).filter((item) => item !== undefined) : [];

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A count: whole, finite and not negative, else 0. */
export const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

/** The text, or its first `max - 1` characters and an ellipsis. */
export const clip = (value: string, max: number): string =>
  value.length <= max ? value : `${value.slice(0, max - 1)}…`;

/** An id or a name: short in anything but an attack on what stores it. */
export const label = (value: unknown): string => clip(text(value), LABEL_MAX);

/** What a tool was asked or said, for people: a text as it is, anything else as JSON. */
export const shown = (value: unknown): string =>
  clip(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), TOOL_MAX);
