import { wrongInputAt } from '../error.ts';
import { isTaskId } from '../names.ts';
import { idOf, idOfText, titleOf } from './plan-ids.ts';
import type { SpecItem, SpecSection } from './plan-item.ts';
import { sorted, wavesOf, withoutDetours } from './plan-order.ts';

/** From what a spec says to tasks: which come before which, and what each is called. */

export interface Spec {
  /** Ids begin with it. */
  name: string;
  /** `free`: only what is said of an item itself makes it wait. */
  order: 'listed' | 'free';
  /** What all wait for. */
  dependsOn: readonly string[];
  /** `spec.md:1` */
  at: string;
  /** Fields of every task. */
  defaults: Readonly<Record<string, unknown>>;
  root: SpecSection;
}

export interface PlannedTask {
  id: string;
  label: string | null;
  title: string;
  /** Headings and items that it is below, outermost first. */
  path: readonly string[];
  dependsOn: readonly string[];
  fields: Readonly<Record<string, unknown>>;
  at: string;
}

/** Every open task of some specs, each behind those that it waits for. @throws FleetError (2): one sentence with file and line */
export function planTasks(specs: readonly Spec[]): PlannedTask[] {
  const planner = new Planner();
  for (const spec of specs) planner.add(spec);
  return planner.tasks();
}

/** An id, by its place; or a name that stands in an `after`, which may come later. */
type Need = string | { name: string; at: string };

interface Draft {
  item: SpecItem;
  spec: Spec;
  path: readonly string[];
  prose: readonly string[];
  needs: readonly Need[];
}

interface Place {
  spec: Spec;
  path: readonly string[];
  prose: readonly string[];
  before: readonly Need[];
}

class Planner {
  readonly #drafts = new Map<string, Draft>();
  /** What a name in `after` stands for: the open tasks of it. */
  readonly #named = new Map<string, { at: string; ids: readonly string[] }>();

  add(spec: Spec): void {
    const before = spec.dependsOn.map((name) => ({ name, at: spec.at }));
    this.#section(spec.root, { spec, path: [], prose: [], before });
  }

  tasks(): PlannedTask[] {
    const needs = new Map([...this.#drafts].map(([id, draft]) => [id, this.#needs(draft)]));
    const order = sorted(needs, (id) => this.#drafts.get(id)!.item.at);
    const least = withoutDetours(order, needs);
    return order.map((id) => planned(this.#drafts.get(id)!, { id, dependsOn: least.get(id)! }));
  }

  /** What the numbered section behind it has to wait for. */
  #section(section: SpecSection, place: Place): readonly Need[] {
    const { title, prose } = section;
    const within = {
      ...place,
      path: title ? [...place.path, title] : place.path,
      prose: prose ? [...place.prose, [title, prose].filter(Boolean).join('\n\n')] : place.prose,
    };
    const own = this.#items(section.items, within);
    let numbered = own;
    const beside: Need[] = [];
    for (const below of section.sections) {
      const ends = this.#section(below, { ...within, before: below.numbered ? numbered : own });
      if (below.numbered) numbered = ends;
      else beside.push(...ends);
    }
    return [...new Set([...numbered, ...beside])];
  }

  /** What the item behind them has to wait for. */
  #items(items: readonly SpecItem[], place: Place): readonly Need[] {
    if (place.spec.order === 'free') {
      for (const item of items) this.#item(item, place);
      return place.before;
    }
    let { before } = place;
    for (const wave of wavesOf(items)) {
      const ends = wave.flatMap((item) => this.#item(item, { ...place, before }));
      // One that says itself what it waits for need not have waited for these.
      const kept = ends.length === 0 || wave.some(({ after }) => after !== null) ? before : [];
      before = [...new Set([...kept, ...ends])];
    }
    return before;
  }

  /** What follows it has to wait for these; none where nothing of it is open. */
  #item(item: SpecItem, place: Place): readonly Need[] {
    const { spec } = place;
    const id = idOf(spec.name, item);
    const open = this.#open(item, spec);
    this.#name(item, { spec, id, ids: open });
    if (open.length === 0) return [];
    const { after, at } = item;
    const before = after ? after.map((name) => ({ name, at })) : place.before;
    if (item.parts.length > 0) {
      const prose = [...place.prose, [item.text, item.details].filter(Boolean).join('\n\n')];
      return this.#items(item.parts, { ...place, before, prose, path: [...place.path, titleOf(item.text)] });
    }
    if (!isTaskId(id)) throw wrongInputAt(at, `${JSON.stringify(item.text)} gives no id: write (id: …) behind it`);
    this.#drafts.set(id, { item, spec, path: place.path, prose: place.prose, needs: before });
    return [id];
  }

  #open(item: SpecItem, spec: Spec): string[] {
    if (item.parts.length > 0) return item.parts.flatMap((part) => this.#open(part, spec));
    return item.done ? [] : [idOf(spec.name, item)];
  }

  #name({ label, text, at }: SpecItem, { spec, id, ids }: { spec: Spec; id: string; ids: readonly string[] }): void {
    for (const name of [id, ...(label ? [scoped(spec, label)] : [])]) {
      const known = this.#named.get(name);
      if (known && known.ids.length + ids.length > 0)
        throw wrongInputAt(
          at,
          `${label ?? titleOf(text)} is called as the task at ${known.at} is: write (id: …) behind one`,
        );
      this.#named.set(name, { at, ids });
    }
  }

  #needs({ spec, needs }: Draft): string[] {
    const ids = needs.flatMap((need) => {
      if (typeof need === 'string') return [need];
      const named =
        this.#named.get(scoped(spec, need.name)) ??
        this.#named.get(need.name) ??
        // By what it says, as its id has it.
        this.#named.get(idOfText(spec.name, need.name));
      if (named) return named.ids;
      // A task that is in the queue already: the server knows.
      if (isTaskId(need.name)) return [need.name];
      throw wrongInputAt(need.at, `waits for ${need.name}, and nothing in the spec is called so`);
    });
    return [...new Set(ids)];
  }
}

function planned(
  { item, spec, path, prose }: Draft,
  { id, dependsOn }: Pick<PlannedTask, 'id' | 'dependsOn'>,
): PlannedTask {
  const { context, ...fields } = { ...spec.defaults, ...item.fields };
  const title = titleOf(item.text);
  const said = [...prose, context].filter((text) => typeof text === 'string' && text !== '').join('\n\n');
  return {
    ...{ id, label: item.label, title, path, dependsOn, at: item.at },
    fields: {
      title,
      objective: [item.text, item.details].filter(Boolean).join('\n\n'),
      ...fields,
      ...(said ? { context: said.slice(0, CONTEXT_MAX) } : {}),
      ...(dependsOn.length > 0 ? { dependsOn } : {}),
    },
  };
}

const scoped = (spec: Spec, label: string): string => `${spec.name}/${label.toLowerCase()}`;

/** As long as the field may be, with room for what a person adds. */
const CONTEXT_MAX = 16_000;
