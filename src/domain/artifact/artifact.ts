import type { Artifact } from './artifact-schema.ts';

export const pathsOf = (artifacts: readonly Pick<Artifact, 'path'>[]): string[] => artifacts.map(({ path }) => path);

/** That a file is there shows nothing: whoever did nothing can leave one. */
export const isChecked = ({ schema, matches, links, quotes }: Artifact): boolean =>
  schema !== undefined || matches !== undefined || links !== undefined || quotes !== undefined;

/** What of them needs a repository, as a sentence that begins with the field. */
export function needsFiles(artifacts: readonly Artifact[]): string | undefined {
  for (const [index, { schema, quotes }] of artifacts.entries()) {
    if (typeof schema === 'string')
      return `artifacts[${index}].schema must be the JSON Schema itself for a task without a repo, in which ${schema} could be`;
    if (quotes) return `artifacts[${index}].quotes must be left out for a task without a repo, which has the sources`;
  }
  return undefined;
}

const SCHEMA_SHOWN = 2_000;

/** As an agent is told: `report.md (must match \`^# \`; every link in it must answer)` */
export function inWords({ path, schema, matches, links, quotes }: Artifact): string {
  const asked = [
    typeof schema === 'string' && `must be JSON as ${schema} describes it`,
    typeof schema === 'object' && `must be JSON as this JSON Schema describes it: ${short(JSON.stringify(schema))}`,
    matches !== undefined && `must match the regular expression \`${matches}\``,
    links && 'must have http(s) links, and each must answer',
    quotes && `must quote ${quotes.join(', ')} word for word, in lines that begin with ">"`,
  ].filter((text) => typeof text === 'string');
  return asked.length > 0 ? `${path} (${asked.join('; ')})` : path;
}

const short = (text: string): string => (text.length > SCHEMA_SHOWN ? `${text.slice(0, SCHEMA_SHOWN)}…` : text);
