/** More are too many to ask. */
export const LINKS_MAX = 100;

/** The http(s) links of a text, each once and without its fragment; one more than `LINKS_MAX` at most. */
export function linksIn(text: string): string[] {
  const links = new Set<string>();
  for (const [found] of text.matchAll(/https?:\/\/[^\s<>"'`\\|{}\]]{1,2000}/gi)) {
    const link = withoutEnd(found).replace(/#.*$/s, '');
    if (/^https?:\/\/[^/?]/i.test(link)) links.add(link);
    if (links.size > LINKS_MAX) break;
  }
  return [...links];
}

/** Without what belongs to the sentence around it; a bracket that was opened in it is its own. */
function withoutEnd(link: string): string {
  let open = link.split('(').length - link.split(')').length;
  let end = link.length;
  for (; end > 0; end -= 1) {
    const last = link[end - 1]!;
    if (last === ')' && open < 0) open += 1;
    else if (!/[.,;:!?*_~]/.test(last)) break;
  }
  return link.slice(0, end);
}
