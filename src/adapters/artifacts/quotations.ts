/** Shorter ones stand in any text. */
const SHORTEST = 20;
/** More are too many to look for. */
const QUOTATIONS_MAX = 200;

/** What is wrong with a text that is to quote the sources, as the end of a sentence. */
export function quotesOf(sources: readonly string[]): (text: string) => string | undefined {
  const texts = sources.map(flat);
  return (text) => {
    const said = quotationsIn(text);
    if (said.length > QUOTATIONS_MAX)
      return `has more than ${QUOTATIONS_MAX} quotations, which are too many to look for`;
    if (!said.some((one) => partsOf(one).some(isLong)))
      return `quotes nothing: no line begins with ">" and has ${SHORTEST} characters in a row`;
    const wrong = said.filter((one) => !standsIn(texts, one)).map((one) => `"${one.slice(0, SHOWN)}"`);
    if (wrong.length === 0) return undefined;
    const more = wrong.length > LISTED ? ` and ${wrong.length - LISTED} more` : '';
    return `quotes what no source says: ${wrong.slice(0, LISTED).join(', ')}${more}`;
  };
}

const LISTED = 2;
const SHOWN = 80;
const isLong = (part: string): boolean => part.length >= SHORTEST;

/** Block quotations of a text, each in one line; one more than `QUOTATIONS_MAX` at most. */
function quotationsIn(text: string): string[] {
  const blocks: string[][] = [];
  let open = false;
  for (const line of text.split('\n')) {
    const said = /^\s{0,3}>+ ?(.*)/.exec(line)?.[1];
    if (said === undefined || said.trim() === '') open = false;
    else if (open) blocks.at(-1)?.push(said);
    else open = blocks.push([said]) > 0;
    if (blocks.length > QUOTATIONS_MAX) break;
  }
  return blocks.map((lines) => flat(lines.join(' '))).filter(Boolean);
}

/** What `…` or `[...]` leaves out may be anything. */
const partsOf = (quotation: string): string[] =>
  quotation
    .split(/ ?(?:\[ ?)?(?:…|\.\.\.)(?: ?\])? ?/)
    .map((part) => part.replace(/^["“”]|["“”]$/g, ''))
    .filter(Boolean);

/** Word for word, its parts one after the other. */
function standsIn(texts: readonly string[], quotation: string): boolean {
  const parts = partsOf(quotation);
  return parts.length > 0 && texts.some((text) => holds(text, parts));
}

function holds(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

const flat = (text: string): string => text.replace(/[‘’]/g, "'").replace(/[“”]/g, '"').replace(/\s+/g, ' ').trim();
