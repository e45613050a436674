import { z } from 'zod';
import { wildcard } from '../task/wildcard-schema.ts';

const usd = z.number().min(0);

/** US dollars per million tokens. */
const price = z.strictObject({
  input: usd,
  output: usd,
  /** Input that came from the model's cache; default: as `input`. */
  cacheRead: usd.optional(),
  /** Input that was written to the cache; default: as `input`. */
  cacheWrite: usd.optional(),
});
/** By model, with wildcards; the first that fits counts. */
export const prices = z.record(wildcard, price);
/** What is known of a model beside its price. */
export const models = z.record(wildcard, z.strictObject({ context: z.int().positive() }));

export type Price = z.output<typeof price>;
export type Prices = z.output<typeof prices>;
export type Models = z.output<typeof models>;
