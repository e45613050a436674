import { wrongInputAt } from '../error.ts';
import type { SpecItem } from './plan-item.ts';

/** What comes before what. */

/** Neighbours that are marked as parallel go together. */
export function wavesOf(items: readonly SpecItem[]): SpecItem[][] {
  const waves: SpecItem[][] = [];
  for (const item of items) {
    const last = waves.at(-1);
    if (item.parallel && last?.at(-1)?.parallel) last.push(item);
    else waves.push([item]);
  }
  return waves;
}

/** Dependencies first, else as written. */
export function sorted(needs: ReadonlyMap<string, readonly string[]>, at: (id: string) => string): string[] {
  const order = new Set<string>();
  const visit = (id: string, way: readonly string[]): void => {
    if (order.has(id)) return;
    const loop = way.indexOf(id);
    if (loop >= 0) throw wrongInputAt(at(id), `goes in a circle: ${[...way.slice(loop), id].join(' waits for ')}`);
    for (const other of needs.get(id)!) if (needs.has(other)) visit(other, [...way, id]);
    order.add(id);
  };
  for (const id of needs.keys()) visit(id, []);
  return [...order];
}

/** What is waited for anyway, by way of another, is left out. */
export function withoutDetours(
  order: readonly string[],
  needs: ReadonlyMap<string, readonly string[]>,
): Map<string, readonly string[]> {
  const behind = new Map<string, Set<string>>();
  const least = new Map<string, readonly string[]>();
  for (const id of order) {
    const direct = needs.get(id)!;
    const through = new Set(direct.flatMap((other) => [...(behind.get(other) ?? [])]));
    least.set(
      id,
      direct.filter((other) => !through.has(other)),
    );
    behind.set(id, new Set([...direct, ...through]));
  }
  return least;
}
