/** Changes to a JSON file that leave every other byte of it as somebody wrote it. */

interface Member {
  key: string;
  /** Where its key and its value stand. */
  at: number;
  from: number;
  to: number;
}

/** The keys of an object's own members, in their order, as often as they stand there. `text` is valid JSON, an object. */
export const memberKeys = (text: string): string[] => scan(text).members.map(({ key }) => key);

/** `text`, valid JSON with an object, with these members set: in place where they are there, else after the last one. */
export function setMembers(text: string, values: Readonly<Record<string, unknown>>): string {
  const { members, open } = scan(text);
  const style = styleOf(text, { open, first: members[0]?.at });
  let edited = text;
  for (const member of members.toReversed())
    if (Object.hasOwn(values, member.key))
      edited = edited.slice(0, member.from) + written(values[member.key], style) + edited.slice(member.to);
  const missing = Object.entries(values).filter(([key]) => !members.some((member) => member.key === key));
  if (!missing.length) return edited;
  const added = missing.map(([key, value]) => `${JSON.stringify(key)}: ${written(value, style)}`);
  const last = scan(edited).members.at(-1)?.to;
  const at = last ?? open + 1;
  const joined = added.map((one, index) => (index || last !== undefined ? `,${style.between}${one}` : one)).join('');
  return edited.slice(0, at) + joined + edited.slice(at);
}

interface Style {
  eol: string;
  /** The indent of one level; none where the whole object stands on one line. */
  indent: string | undefined;
  between: string;
}

function styleOf(text: string, { open, first }: { open: number; first: number | undefined }): Style {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = first === undefined ? '' : text.slice(open + 1, first);
  const indent = gap.includes('\n') ? gap.slice(gap.lastIndexOf('\n') + 1) : undefined;
  return { eol, indent, between: indent === undefined ? ' ' : eol + indent };
}

function written(value: unknown, { eol, indent }: Style): string {
  if (indent === undefined) return JSON.stringify(value);
  return JSON.stringify(value, null, indent || undefined).replaceAll('\n', eol + indent);
}

/** Takes valid JSON: only strings and brackets need to be told apart. */
function scan(text: string): { open: number; members: Member[] } {
  const open = text.indexOf('{');
  const members: Member[] = [];
  let at = blank(text, open + 1);
  while (text[at] === '"') {
    const keyEnd = stringEnd(text, at);
    const from = blank(text, text.indexOf(':', keyEnd) + 1);
    const next = valueEnd(text, from);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)) as string, at, from, to: trimEnd(text, next) });
    at = text[next] === ',' ? blank(text, next + 1) : next;
  }
  return { open, members };
}

function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') at = stringEnd(text, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (depth === 0 && (char === ',' || char === '}')) return at;
    else if (char === '}' || char === ']') depth -= 1;
  }
  return text.length;
}

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function blank(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '.')) at += 1;
  return at;
}

function trimEnd(text: string, to: number): number {
  let at = to;
  while (/\s/.test(text[at - 1] ?? '.')) at -= 1;
  return at;
}
