import { parse } from 'yaml';
import { wrongInputAt } from '../domain/error.ts';
import { FIELDS, withLists } from './front-matter.ts';

/** What an item says of itself beside what is to be done. */

export interface Said {
  fields: Record<string, unknown>;
  after: string[] | null;
  id?: string;
}

/** `verify: npm test`, `_Depends: 1.1_` below an item: said of the task, not part of its text. */
export function takeNote(text: string, said: Said, at: string): boolean {
  const after = /^[_*]*(?:depends(?: ?on)?|dependencies|after|blocked by)[_*]*:[_*]*\s*([^_*\n]+)[_*]*$/i.exec(
    text.trim(),
  );
  if (after) {
    said.after = [...(said.after ?? []), ...namesIn(after[1]!)];
    return true;
  }
  const [, field] = /^([a-z][A-Za-z]*):(?:\s|$)/.exec(text) ?? [];
  if (!field || !NOTES.has(field)) return false;
  let value: unknown;
  try {
    value = (
      parse(text.replace(/:\s+`([^`]*)`\s*$/, (_, code: string) => `: ${JSON.stringify(code)}`)) as Record<
        string,
        unknown
      >
    )[field];
  } catch (error) {
    throw wrongInputAt(at, `${field} is no valid YAML: ${firstLine((error as Error).message)}`);
  }
  Object.assign(said.fields, withLists({ [field]: value }));
  return true;
}

interface Title {
  label: string | null;
  text: string;
  parallel: boolean;
  story: string | null;
  said: Pick<Said, 'after' | 'id'>;
}

/** `[ ] **T012** [P] [US1] Add the model (after: T003)`, the forms that spec tools write. */
export function titleFrom(raw: string): Title {
  const found: Title = { label: null, text: '', parallel: false, story: null, said: { after: null } };
  let text = raw.replace(/^\[[ xX]\]\s+/, '').trim();
  const take = (shape: RegExp, use: (match: RegExpExecArray) => void): void => {
    const match = shape.exec(text);
    if (!match) return;
    use(match);
    text = (text.slice(0, match.index) + text.slice(match.index + match[0].length)).trim();
  };
  take(
    /^\*{0,2}`?([A-Z]{1,10}-?\d{1,6}(?:[.-]\d{1,4})*[a-z]?)`?(?:\*{0,2}[:.)]|\*\*|[:.)]\*{0,2})?(?=\s)[:.)]?/,
    ([, label]) => (found.label = label!),
  );
  if (found.label === null)
    take(/^\*{0,2}(\d{1,4}(?:\.\d{1,4})+|\d{1,4}(?=[.)]))[.)]?\*{0,2}\s+/, ([, label]) => (found.label = label!));
  take(/(?:^|\s)[[(]P[\])](?=\s|$)/, () => (found.parallel = true));
  take(/(?:^|\s)\[(US-?\d+)\](?=\s|$)/, ([, story]) => (found.story = story!));
  take(/\(id:\s*([^()\s]+)\s*\)/i, ([, id]) => (found.said.id = id!));
  take(/\((?:after|depends on|blocked by):\s*([^()]*)\)/i, ([, names]) => (found.said.after = namesIn(names!)));
  take(/\(depends on ((?:[A-Za-z]*-?\d[\w.-]*)(?:(?:,| and|,? and)\s*[A-Za-z]*-?\d[\w.-]*)*)\)/i, ([, names]) => {
    found.said.after = [...(found.said.after ?? []), ...namesIn(names!)];
  });
  found.text = text.replace(/[ \t]+/g, ' ');
  return found;
}

/** `T001, T002 and T003`; `none` is none. */
const namesIn = (text: string): string[] =>
  text
    .split(/,|\band\b|&|\s+/)
    .map((name) => name.replace(/^[[(`"'#]+|[\])`"'.]+$/g, ''))
    .filter((name) => name && !/^(none|nothing|-|—|n\/a)$/i.test(name));

/** What would more likely be prose below an item is not read as a field there. */
const NOTES = new Set(
  FIELDS.filter(
    (field) => !['objective', 'title', 'context', 'parent', 'proposed', 'dependsOn', 'for'].includes(field),
  ),
);

const firstLine = (text: string): string => text.split('\n', 1)[0]!.replace(/:$/, '');
