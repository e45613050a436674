import { z } from 'zod';
import { PATTERN_FLAGS } from './pattern-flags.ts';
import { checkGlob } from '../values/glob.ts';

const glob = z.string().superRefine((text, ctx) => {
  const wrong = checkGlob(text);
  if (wrong) ctx.addIssue({ code: 'custom', message: wrong });
});
export const globs = z.array(glob).max(200);

const PATTERN_MAX = 1_000;
const SCHEMA_MAX = 50_000;

const pattern = z
  .string()
  .min(1, { error: 'must not be empty' })
  .max(PATTERN_MAX)
  .superRefine((text, ctx) => {
    const message = patternProblem(text);
    if (message) ctx.addIssue({ code: 'custom', message });
  });

function patternProblem(text: string): string | undefined {
  try {
    RegExp(text, PATTERN_FLAGS);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? (error.message.split(': ').at(-1) ?? '') : '';
    return `must be a regular expression: ${why}`;
  }
}

/** A path of a file in the repository at the base. */
const schemaPath = z.string().regex(/^(?![/-])(?!.*(^|\/)\.\.?(\/|$))[^\n\r\0]{1,200}$/, {
  error: 'must be a JSON Schema, or the path of one in the repository',
});
const schema = z
  .union([schemaPath, z.record(z.string(), z.unknown())], {
    error: 'must be a JSON Schema, or the path of one in the repository',
  })
  .refine((value) => JSON.stringify(value).length <= SCHEMA_MAX, {
    error: `must be at most ${SCHEMA_MAX} characters: put it into a file of the repository and give its path`,
  });

/** An output that a task declares, and what has to hold of every file that it names; a bare glob is short for `{ path }`. */
export const artifact = z.preprocess(
  (value) => (typeof value === 'string' ? { path: value } : value),
  z.strictObject({
    path: glob,
    /** The file is JSON that a JSON Schema describes: the schema, or its path in the repository at the base. */
    schema: schema.optional(),
    /** A regular expression that the file's text matches somewhere. */
    matches: pattern.optional(),
    /** It has http(s) links, and each answers. */
    links: z.literal(true, { error: 'must be true or left out' }).optional(),
    /** It has quotations (lines that begin with `>`), and each stands in a file of the base that these globs name. */
    quotes: z.preprocess((value) => (typeof value === 'string' ? [value] : value), globs.min(1)).optional(),
  }),
);
export type Artifact = z.output<typeof artifact>;
