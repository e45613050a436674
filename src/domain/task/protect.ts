import { z } from 'zod';
import { globs } from '../artifact/artifact-schema.ts';

/** What becomes of a new file below what is protected: delivered and left out of the trials, or a violation. */
const NEW_PROTECTED = ['set-aside', 'refuse'] as const;
export type NewProtected = (typeof NEW_PROTECTED)[number];

/** Files that must stay as the base has them; a bare list is short for `{ paths }`. */
export const protect = z.preprocess(
  (value) => (Array.isArray(value) ? { paths: value } : value),
  z.strictObject({ paths: globs.optional(), new: z.enum(NEW_PROTECTED).optional() }),
);
type Protect = z.output<typeof protect>;

/** What satisfies all of them: every path, and the stricter word on new files. Empty where none says anything. */
export function protectBoth(...all: readonly (Protect | undefined)[]): Protect {
  const paths = [...new Set(all.flatMap((one) => one?.paths ?? []))];
  const said = all.flatMap((one) => one?.new ?? []);
  return {
    ...(paths.length > 0 ? { paths } : {}),
    ...(said.length > 0 ? { new: said.includes('refuse') ? 'refuse' : 'set-aside' } : {}),
  };
}
