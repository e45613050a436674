import { ID_MAX } from '../names.ts';
import type { SpecItem } from './plan-item.ts';

/** What tasks of a spec are called. */

const TITLE_MAX = 100;

/** The first line, without emphasis. */
export function titleOf(text: string): string {
  const plain = plainOf(text);
  return plain.length > TITLE_MAX ? `${plain.slice(0, TITLE_MAX - 1).trimEnd()}…` : plain;
}

const plainOf = (text: string): string =>
  text
    .split('\n', 1)[0]!
    .replace(/\*\*|__|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();

export const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/[-.]*\.[-.]*|-{2,}/g, (run) => (run === '.' ? '.' : '-'))
    .replace(/^[-.]+|[-.]+$/g, '');

/** The same for the same spec and label, or text: planning twice makes nothing twice. */
export const idOf = (spec: string, { label, text }: Pick<SpecItem, 'label' | 'text'>): string =>
  idOfText(spec, label ?? plainOf(text));

export function idOfText(spec: string, name: string): string {
  const id = `${spec}-${slugOf(name)}`.replace(/-+$/, '');
  if (id.length <= ID_MAX) return slugOf(name) ? id : '';
  // FNV-1a
  let sum = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) sum = Math.imul(sum ^ name.charCodeAt(at), 0x01000193) >>> 0;
  return `${id.slice(0, ID_MAX - 8).replace(/[^a-z0-9]+$/, '')}-${sum.toString(36)}`;
}
