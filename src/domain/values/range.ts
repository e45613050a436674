import { z } from 'zod';

const SHAPE = /^\s*(?:(<=?|>=?)\s*(\d+)|(\d+)(?:\s*-\s*(\d+))?)\s*$/;

/** A whole number, or a range of them: `3`, `<20`, `>=3`, `2-4`. */
export const range = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z
    .string({ error: 'must be a number or a range such as <20, >=3 or 2-4' })
    .regex(SHAPE, { error: 'must be a number or a range such as <20, >=3 or 2-4' })
    .refine((text) => !/^\s*(\d+)\s*-\s*(\d+)\s*$/.test(text) || bounds(text)[0] <= bounds(text)[1], {
      error: 'must be a range whose first number is not above its second',
    }),
);

export function inRange(text: string, value: number): boolean {
  const [least, most] = bounds(text);
  return value >= least && value <= most;
}

function bounds(text: string): [least: number, most: number] {
  const [, sign, limit, from, to = from] = SHAPE.exec(text) ?? [];
  const at = Number(limit);
  if (sign === '<') return [-Infinity, at - 1];
  if (sign === '<=') return [-Infinity, at];
  if (sign === '>') return [at + 1, Infinity];
  if (sign === '>=') return [at, Infinity];
  return [Number(from), Number(to)];
}
