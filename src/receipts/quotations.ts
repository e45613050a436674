/** Shorter ones stand in any text. */
export const SHORTEST = 20;

/** Block quotations of a text, each in one line. */
export function quotationsIn(text: string): string[] {
  const blocks: string[][] = [];
  let open = false;
  for (const line of text.split('\n')) {
    const said = /^\s{0,3}>+ ?(.*)/.exec(line)?.[1];
    if (said === undefined || said.trim() === '') open = false;
    else if (open) blocks.at(-1)?.push(said);
    else open = blocks.push([said]) > 0;
  }
  return blocks.map((lines) => flat(lines.join(' '))).filter(Boolean);
}

/** Quotations that stand in no source word for word; what `…` or `[...]` leaves out may be anything. */
export function notInSources(quotations: readonly string[], sources: readonly string[]): string[] {
  const texts = sources.map(flat);
  return quotations.filter((quotation) => {
    const parts = quotation
      .split(/\s*(?:\[\s*)?(?:…|\.\.\.)(?:\s*\])?\s*/)
      .map((part) => part.replace(/^["“”]|["“”]$/g, ''))
      .filter(Boolean);
    return parts.length === 0 || !texts.some((text) => holds(text, parts));
  });
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
