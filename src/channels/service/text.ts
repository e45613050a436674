import { stripVTControlCharacters } from 'node:util';

/** Text for people in a chat. Whatever an agent or a title says is stripped first: it may try to turn other text around, or hide some. */

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Overrides and embeddings of direction, and tags that nobody sees. What emoji and right-to-left words need stays. */
const LYING = /[\u180e\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e001f}]/gu;

export const plain = (text: string): string =>
  stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replace(CONTROL, '').replace(LYING, '').trim();

/** On one line. */
export const line = (text: string, longest = 200): string => clip(plain(text).replace(/\s+/g, ' '), longest);

/** At most `longest` UTF-16 units, cut between two characters as people see them. */
export function clip(text: string, longest: number): string {
  if (text.length <= longest) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, longest))) {
    if (kept.length + segment.length > longest - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
