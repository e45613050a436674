import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const src = fileURLToPath(new URL('../src', import.meta.url));
/** Layers whose folders are rooms: each holds what belongs together, and imports go one way between them. */
const LAYERS = ['domain', 'adapters', 'coders', 'receipts', 'activities', 'workflows', 'client', 'workers', 'cli'];
const MOST_FILES = 15;
const IMPORT = /\bfrom '(\.{1,2}\/[^']+)'|\bimport\((?:'(\.{1,2}\/[^']+)')\)/g;

/** Paths of a layer's files, relative to src. */
const filesOf = (layer: string): string[] =>
  readdirSync(posix.join(src, layer), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => posix.join(layer, path));

/** A file beside the rooms is a room of its own. */
const roomOf = (path: string, layer: string): string => (posix.dirname(path) === layer ? path : posix.dirname(path));

/** The rooms that each room of a layer imports, types counted. */
function importsOf(layer: string, read: (path: string) => string): Map<string, Set<string>> {
  const rooms = new Map<string, Set<string>>();
  for (const path of filesOf(layer)) {
    const room = roomOf(path, layer);
    const to = rooms.get(room) ?? new Set();
    rooms.set(room, to);
    for (const [, from, loaded] of read(path).matchAll(IMPORT)) {
      const target = posix.join(posix.dirname(path), (from ?? loaded)!);
      if (target.startsWith(`${layer}/`)) to.add(roomOf(target, layer));
    }
    to.delete(room);
  }
  return rooms;
}

/** Rooms that can be reached from themselves. */
function circles(rooms: Map<string, Set<string>>): string[] {
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(rooms.get(from) ?? [])].some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return [...rooms.keys()].filter((room) => reaches(room, room));
}

const text = (path: string): string => readFileSync(posix.join(src, path), 'utf8');

test.each(LAYERS)('the rooms of %s import each other one way', (layer) => {
  const rooms = importsOf(layer, text);
  expect(rooms.size).toBeGreaterThan(5);
  expect(circles(rooms)).toEqual([]);
});

test.each(LAYERS)('no room of %s holds more files than one can survey', (layer) => {
  const counts = new Map<string, number>();
  for (const path of filesOf(layer)) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});

test('an import that runs back is found', () => {
  const back = "import type { Task } from '../view/task-view.ts';";
  const rooms = importsOf('domain', (path) => text(path) + (path === 'domain/task/schema.ts' ? back : ''));
  expect(circles(rooms)).toContain('domain/task');
});
