import { randomInt } from 'node:crypto';
import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import { children, DEPTH_MAX, field, insert, replace, shortText } from './nodes.ts';
import { valueElsewhere } from './same-file.ts';

/** How a language writes its values. */
export interface Literals {
  kinds: Readonly<Record<string, 'number' | 'string' | 'true' | 'false' | 'nothing' | 'sign' | 'list' | 'set' | 'map'>>;
  /** What the other boolean is called. */
  boolean: Readonly<Record<'true' | 'false', string>>;
  /** A pair of a map: a name that no map has, and a digit. */
  pair: (name: string, digit: string) => string;
  /** The part of an expression that decides what it equals: in `set([1])` the list. */
  inside?: (node: Node) => Node | undefined;
}

/**
 * Another literal in place of one in `node`, chosen at random: of the same kind, so that nobody who reads it knows whether the author
 * wrote it. What `node` is then equals the former nowhere. Null: it is, or holds, none of which that is sure.
 */
export function changeLiteral(node: Node, language: Literals, depth = 0): Edit[] | null {
  const kind = language.kinds[node.type];
  if (kind === 'number' || kind === 'string' || kind === 'list' || kind === 'map') {
    const text = valueElsewhere(node, kind, language.kinds);
    if (text !== undefined) return [replace(node, text)];
  }
  return changeInPlace(node, language, depth);
}

/** The same with no value from elsewhere: where its text is read, as in `Decimal("4.0")`, another text may mean the same. */
function changeInPlace(node: Node, language: Literals, depth: number): Edit[] | null {
  if (depth > DEPTH_MAX) return null;
  const again = (inner: Node) => changeLiteral(inner, language, depth + 1);
  const kind = language.kinds[node.type];
  switch (kind ?? 'other') {
    case 'number': {
      const text = otherNumber(node.text);
      return text === null ? null : [replace(node, text)];
    }
    case 'string':
      return changeString(node);
    case 'true':
      return [replace(node, language.boolean.false)];
    case 'false':
      return [replace(node, language.boolean.true)];
    case 'nothing':
      return [replace(node, digit())];
    case 'sign': {
      const inner = field(node, 'argument');
      return inner && /^[-+]/.test(node.text) && language.kinds[inner.type] === 'number' ? again(inner) : null;
    }
    case 'list':
    case 'set':
      return changeMember(node, children(node), again) ?? [addMember(node, digit())];
    case 'map': {
      const pairs = children(node).filter(({ type }) => type === 'pair');
      // What comes later may stand in its place.
      const all = pairs.length === children(node).length;
      const values = all ? pairs.map((pair) => field(pair, 'value')!) : [];
      const keys = pairs.map((pair) => shortText(field(pair, 'key')));
      const apart = keys.every((key) => key !== '' && !key.includes('__proto__')) && new Set(keys).size === keys.length;
      return (apart ? changeMember(node, values, again) : null) ?? [addMember(node, language.pair(word(), digit()))];
    }
    case 'other': {
      const inner = language.inside?.(node);
      return inner ? changeInPlace(inner, language, depth + 1) : null;
    }
  }
}

/** One of its literals; not of some that are the same, as a set has each once. */
function changeMember(node: Node, members: readonly Node[], again: (one: Node) => Edit[] | null): Edit[] | null {
  const left = [...members];
  if (node.type === 'set' && new Set(left.map(shortText)).size < left.length) return null;
  while (left.length > 0) {
    const edits = again(left.splice(randomInt(left.length), 1)[0]!);
    if (edits) return edits;
  }
  return null;
}

function addMember(node: Node, text: string): Edit {
  const last = children(node).at(-1);
  if (last) return insert(last.endIndex, `, ${text}`);
  // A tuple of one has a comma.
  return insert(node.startIndex + 1, node.type === 'tuple' ? `${text},` : text);
}

/** Its first digit is another one: so no rounding hides it. Null where it is written in another way. */
export function otherNumber(text: string): string | null {
  const [, before = '', one, after = ''] =
    /^(0[xX](?:[\da-fA-F_]*))([\da-fA-F])(n?)$/.exec(text) ??
    /^(\.?)(\d)([\d_]*\.?[\d_]*(?:[eE][-+]?\d+)?[jnJ]?)$/.exec(text) ??
    [];
  if (one === undefined || /^0[\d_]/.test(text)) return null;
  // No number begins with a 0 that has more digits.
  const first = before === '' && /^[\d_]/.test(after) ? '123456789' : '0123456789';
  return `${before}${among(first.split('').filter((each) => each !== one.toLowerCase()))}${after}`;
}

/** The same where types have bounds: no greater than the former, or by one where that ends with 0. Null where it is written in another way. */
export function lowerNumber(text: string): string | null {
  const [, before = '', one, after = ''] =
    /^(0x[\da-fA-F_]*?)([\da-fA-F])(_*(?:[iu](?:8|16|32|64|128|size))?)$/.exec(text) ??
    /^(\d[\d_]*?|)(\d)(_*(?:[iu](?:8|16|32|64|128|size))?)$/.exec(text) ??
    /^()(\d)([\d_]*\.?[\d_]*(?:[eE][-+]?\d+)?(?:f32|f64)?)$/.exec(text) ??
    [];
  if (one === undefined) return null;
  const digits = '0123456789abcdef'.slice(0, '0123456789abcdef'.indexOf(one.toLowerCase()));
  return `${before}${among((digits || '1').split(''))}${after}`;
}

const CHARACTERS = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];

/** Of so many letters or more, one that is another makes it a text that is no part of the former. */
const LONG = 6;

/** One of its letters is another one; `parts`: and it is no part of a text that holds the former. */
export function changeString(node: Node, { parts = false } = {}): Edit[] | null {
  if (node.type === 'concatenated_string') return changeOneOf(node);
  const opening = /^[a-zA-Z]*("""|'''|["'`])/.exec(node.text);
  if (!opening) return null;
  const start = node.startIndex + opening[0].length;
  const end = node.endIndex - opening[1]!.length;
  const places = lettersIn(node, { start, end });
  if (parts && places.length < LONG) return [insert(end, ` ${word()}`)];
  if (places.length === 0) return [insert(end, among(CHARACTERS[0]!.split('')))];
  const at = among(places);
  return [{ start: at, end: at + 1, text: otherCharacter(node.text[at - node.startIndex]!) }];
}

/** Texts that stand beside each other are one. */
function changeOneOf(node: Node): Edit[] | null {
  const texts = children(node).filter(({ type }) => type === 'string');
  return texts.length > 0 ? changeString(among(texts)) : null;
}

/** Offsets of the letters and digits that stand for themselves. */
function lettersIn(node: Node, { start, end }: { start: number; end: number }): number[] {
  const { text, startIndex } = node;
  // In order, and apart from each other.
  const others = outside(node);
  const places: number[] = [];
  for (let at = start, next = 0; at < end; at += 1) {
    while (next < others.length && others[next]!.endIndex <= at) next += 1;
    if (next < others.length && others[next]!.startIndex <= at) at = others[next]!.endIndex - 1;
    else if (/[A-Za-z0-9]/.test(text[at - startIndex]!) && text[at - startIndex - 1] !== '\\') places.push(at);
  }
  return places;
}

const outside = (node: Node): Node[] =>
  children(node).flatMap((child) =>
    /escape|interpolation|substitution/.test(child.type)
      ? [child]
      : child.type === 'string_content'
        ? outside(child)
        : [],
  );

const otherCharacter = (character: string): string =>
  among(
    CHARACTERS.find((some) => some.includes(character))!
      .split('')
      .filter((each) => each !== character),
  );

/** A regular expression without signs other than letters, with another letter; null for another one. */
export function changeRegex(node: Node): Edit[] | null {
  const pattern = children(node).find(({ type }) => type === 'regex_pattern');
  if (!pattern || !/^[A-Za-z ,:'"-]{4,}$/.test(pattern.text)) return null;
  const places = pattern.text.split('').flatMap((sign, at) => (/[A-Za-z]/.test(sign) ? [pattern.startIndex + at] : []));
  if (places.length === 0) return null;
  const at = among(places);
  const other = otherCharacter(pattern.text[at - pattern.startIndex]!);
  return [{ start: at, end: at + 1, text: other }];
}

const digit = (): string => String(randomInt(2, 10));

export const among = <T>(all: readonly T[]): T => all[randomInt(all.length)]!;

/** One that nobody wrote, and that looks as if: consonants and vowels in turn. */
export function word(): string {
  const part = () => `${among('bdfgklmnprstvz'.split(''))}${among('aeiou'.split(''))}`;
  return `${part()}${part()}${part()}`;
}
