import { PATTERN_FLAGS } from '../../domain/artifact/pattern-flags.ts';
import type { Artifact } from '../../domain/artifact/artifact-schema.ts';
import { checkTexts } from './check-texts.ts';
import { LONGEST } from './pattern-growth.ts';

/** By the clock, as a machine may be busy: a schema of 50,000 characters takes a fraction of a second. */
const SCHEMA_MS = 60_000;
/** What was not found to grow by then is not refused for it. */
const PROBE_MS = 60_000;
const UNITS = 12;

type Read = { ok: true; artifacts: Artifact[] } | { ok: false; message: string };

/**
 * The rules for artifacts, with what a schema's path leads to in its place; `read` gives the text of a file of the base. Else what
 * of them nobody could apply, as one sentence that begins with the field: a schema that is missing or none, and an expression that
 * takes seconds of CPU time on a text made to stall it, by how its time grows: a busy machine refuses nothing. Another such text may be found: every check has a deadline as well.
 */
export async function readRules(
  artifacts: readonly Artifact[],
  read: (path: string) => Promise<string | undefined>,
): Promise<Read> {
  const made: Artifact[] = [];
  for (const [index, artifact] of artifacts.entries()) {
    const schema = typeof artifact.schema === 'string' ? await readSchema(artifact.schema, read) : artifact.schema;
    const fault =
      typeof schema === 'string'
        ? `schema ${schema}`
        : ((await schemaFault(schema)) ?? (await patternFault(artifact.matches)));
    if (fault !== undefined) return { ok: false, message: `artifacts[${index}].${fault}` };
    made.push({ ...artifact, ...(typeof schema === 'object' ? { schema } : {}) });
  }
  return { ok: true, artifacts: made };
}

/** What is wrong with it, as text. */
async function readSchema(
  path: string,
  read: (path: string) => Promise<string | undefined>,
): Promise<Record<string, unknown> | string> {
  const text = await read(path);
  if (text === undefined) return `${path} is no file of the repository at the base: commit it`;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    return `${path} is no JSON`;
  }
  return `${path} is no JSON Schema, which is an object`;
}

async function schemaFault(schema: object | undefined): Promise<string | undefined> {
  const checked = schema && (await checkTexts({ schema }, SCHEMA_MS));
  if (!checked || !('failed' in checked)) return undefined;
  const why = 'why' in checked ? checked.why : 'it takes too long to read';
  return `schema must be a JSON Schema of draft 2020-12: ${why}`;
}

async function patternFault(matches: string | undefined): Promise<string | undefined> {
  if (matches === undefined || !/[*+}]/.test(matches)) return undefined;
  const checked = await checkTexts({ matches, flags: PATTERN_FLAGS, stalling: stalling(matches) }, PROBE_MS);
  if (!('problems' in checked) || checked.problems.length === 0) return undefined;
  return `matches must be an expression that ends soon, without nested repetition: ${matches} takes seconds on ${LONGEST} characters`;
}

/** Texts that repeat what the expression names, and end with what it cannot. */
function stalling(expression: string): { begin: string; unit: string }[] {
  const plain = expression.replace(/\\[a-zA-Z]|\[[^\]]*\]|\(\?[:=!<]*|\{[^}]*\}/g, ' ');
  const words = [...plain.matchAll(/[^\s()[\]{}*+?.|^$\\]+/g)].map(([word]) => word);
  const letters = [...new Set(words.flatMap((word) => [word, ...word.split('')]))];
  const units = [...letters, 'a', '0', ' ', '-', '\n', 'a '].slice(0, UNITS);
  const begins = ['', ...words.slice(0, 2)];
  return begins.flatMap((begin) => units.map((unit) => ({ begin, unit })));
}
