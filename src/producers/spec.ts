import { lexer, type Token, type Tokens } from 'marked';
import { wrongInputAt } from '../domain/error.ts';
import { slugOf } from '../domain/produce/plan-ids.ts';
import type { Spec } from '../domain/produce/plan.ts';
import type { SpecItem, SpecSection } from '../domain/produce/plan-item.ts';
import { listOf, readFront, withLists } from './front-matter.ts';
import { takeNote, titleFrom, type Said } from './item-text.ts';

/** Reads markdown: what is said of all tasks in its front matter, and tasks as items with checkboxes under headings. */

export interface SpecFile {
  /** As a person named it, for messages. */
  file: string;
  /** What its tasks' ids begin with, unless its front matter says `name`. */
  name: string;
  text: string;
}

/** A checkbox that is neither open nor ticked. */
export interface LeftOut {
  at: string;
  text: string;
}

export interface ReadSpec extends Spec {
  leftOut: LeftOut[];
  /** It has items with checkboxes, open or ticked. */
  hasItems: boolean;
}

/** @throws FleetError (2): one sentence with file and line */
export function readSpec({ file, name, text }: SpecFile): ReadSpec {
  const front = readFront(file, text);
  const reader = new Reader(file);
  const root = reader.read(front.body, front.bodyLine);
  const {
    name: given = name,
    order = 'listed',
    title: _title,
    approved: _approved,
    id,
    dependsOn,
    ...defaults
  } = front.fields;
  if (id !== undefined && reader.items > 0)
    throw wrongInputAt(`${file}:${front.lineOf('id')}`, 'id is for a file that is one task: write name');
  const called = slugOf(String(given));
  if (!called) throw wrongInputAt(`${file}:${front.lineOf('name')}`, `name ${JSON.stringify(given)} gives no ids`);
  if (order !== 'listed' && order !== 'free')
    throw wrongInputAt(`${file}:${front.lineOf('order')}`, 'order must be listed or free');
  return {
    ...{ name: called.slice(0, NAME_MAX).replace(/[-.]+$/, ''), order, defaults: withLists(defaults), root },
    ...{ dependsOn: listOf(dependsOn), at: `${file}:${front.lineOf('dependsOn')}` },
    ...{ leftOut: reader.leftOut, hasItems: reader.items > 0 },
  };
}

/** A file that is one task as a whole. */
export interface WholeTask {
  item: SpecItem;
  /** It has front matter. */
  front: boolean;
  /** Its front matter gives the id. */
  named: boolean;
  /** Nothing but its name says what is to be done. */
  unsaid: boolean;
  /** As it stands in front. */
  approved: unknown;
}

/** Its heading is the title, its text the objective. */
export function readTaskFile({ file, name, text }: SpecFile): WholeTask {
  const front = readFront(file, text);
  const { id, dependsOn, title, approved, name: _name, order: _order, ...fields } = front.fields;
  const heading = lexer(front.body).find((token): token is Tokens.Heading => token.type === 'heading');
  const body = heading ? front.body.replace(heading.raw, '').trim() : front.body.trim();
  const said = title ?? heading?.text ?? name;
  const item = {
    ...{ label: plain(id ?? name), text: plain(said), details: body, parallel: true, done: false, parts: [] },
    ...{ fields: withLists(fields), after: listOf(dependsOn), at: `${file}:${front.lineOf('dependsOn')}` },
  };
  const unsaid = title === undefined && !front.body.trim();
  return { item, front: front.there, named: id !== undefined, unsaid, approved };
}

/** Builds the sections; markdown's own rules say what is an item, and what is code. */
class Reader {
  readonly leftOut: LeftOut[] = [];
  items = 0;
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  read(body: string, line: number): SpecSection {
    const root = newSection('', 0);
    const open = [root];
    for (const { token, at } of placed(lexer(body), line)) {
      if (token.type === 'heading') {
        const { depth, text } = token as Tokens.Heading;
        while (open.length > 1 && open.at(-1)!.depth >= depth) open.pop();
        const section = newSection(text, depth);
        open.at(-1)!.sections.push(section);
        open.push(section);
        continue;
      }
      const section = open.at(-1)!;
      const prose = this.#take(token, at, section);
      if (prose) section.prose = [section.prose, prose].filter(Boolean).join('\n\n');
    }
    return root;
  }

  /** Puts a list's tasks into `items`; gives what is none. */
  #take(token: Token, at: number, { items, done = false }: { items: SpecItem[]; done?: boolean }): string {
    if (token.type === 'html' || token.type === 'hr' || token.type === 'space') return '';
    if (token.type !== 'list') return token.raw.trim();
    const rest: string[] = [];
    for (const { token: item, at: line } of placed((token as Tokens.List).items, at)) {
      const other = /^\[([^\]xX])\]\*?\s+(.*)/.exec(item.text);
      if (item.task) items.push(this.#item(item, line, done));
      else if (other && (other[1] !== 'P' || /^\[.\]\*/.test(item.text)))
        this.leftOut.push({ at: `${this.#file}:${line}`, text: item.text.split('\n', 1)[0]! });
      else rest.push(item.raw.trimEnd());
    }
    return rest.join('\n');
  }

  #item(item: Tokens.ListItem, line: number, ticked: boolean): SpecItem {
    this.items += 1;
    const at = `${this.#file}:${line}`;
    const done = ticked || item.checked === true;
    const parts: SpecItem[] = [];
    const details: string[] = [];
    const said: Said = { fields: {}, after: null };
    const [first, ...below] = [...placed(bodyOf(item), line)];
    for (const { token, at: from } of below) {
      if (token.type !== 'list') {
        const text = this.#take(token, from, { items: parts, done });
        if (text) details.push(text);
        continue;
      }
      const list = token as Tokens.List;
      const notes = list.items.filter((one) => one.task || !takeNote(one.text, said, at));
      // Lines stay true as the items are placed before any is left out.
      const kept = [...placed(list.items, from)].filter(({ token: one }) => notes.includes(one));
      for (const { token: one, at: oneLine } of kept) {
        const text = this.#take({ ...list, raw: one.raw, items: [one] } as Tokens.List, oneLine, {
          items: parts,
          done,
        });
        if (text) details.push(text);
      }
    }
    const title = titleFrom(first?.token.raw ?? '');
    const { id, fields, after } = { ...said, ...title.said, after: title.said.after ?? said.after };
    const labels = title.story ? { labels: [title.story] } : {};
    return {
      ...{ label: id ?? title.label, text: title.text, details: details.join('\n'), parallel: title.parallel },
      ...{ fields: { ...labels, ...fields }, after, done, at, parts },
    };
  }
}

/** What stands in an item: its own text first. */
function bodyOf(item: Tokens.ListItem): Token[] {
  const [first, ...rest] = item.tokens;
  if (first?.type !== 'checkbox') return item.tokens;
  const [text, ...below] = rest;
  return [{ ...(text ?? { type: 'text', text: '' }), raw: text?.raw ?? '' } as Token, ...below];
}

/** Each with its line in the file: what tokens are made of, put together, is the text. */
function* placed<T extends Token>(tokens: readonly T[], line: number): Generator<{ token: T; at: number }> {
  let at = line;
  for (const token of tokens) {
    yield { token, at: at + (/^\n*/.exec(token.raw)?.[0].length ?? 0) };
    at += token.raw.split('\n').length - 1;
    // The last line break of a text is not part of it where a list follows.
    if (token.type === 'text' && !token.raw.endsWith('\n')) at += 1;
  }
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

interface Section extends SpecSection {
  depth: number;
  items: SpecItem[];
  sections: Section[];
}
const newSection = (title: string, depth: number): Section => ({
  ...{ title: title.trim(), depth, prose: '', items: [], sections: [] },
  numbered: /^\W*(?:(?:phase|step|stage|milestone|part|wave|sprint|group)\W*)?(?:\d+|[IVX]+\b[.:)])/i.test(title),
});

/** An id has room for as much again. */
const NAME_MAX = 30;
