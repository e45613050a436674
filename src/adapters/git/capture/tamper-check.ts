import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { sha256 } from '../../sha256.ts';
import type { Evidence } from '../../../ports.ts';

/** Digests of small things, by place and word. */
export type Look = Record<keyof Evidence['elsewhere'], Record<string, string>>;

const MOST_ENTRIES = 5_000;
/** Settings by which one repository makes git run programs, or read other objects, in whoever uses it. */
const SETTINGS = [
  'config',
  'config.worktree',
  'commondir',
  'info/attributes',
  'info/grafts',
  'objects/info/alternates',
];

/**
 * How places that a run has no business in look: some hundred stats, no big file is read. Refs and objects of the mirror
 * and the base store are left out, as other runs' fetches change them, and live runs' folders, which change by themselves.
 */
export function lookElsewhere(places: { checkout: string | null; stores: readonly string[] }): Look {
  const { checkout, stores } = places;
  return {
    checkout: checkout === null ? {} : { ...settingsOf(checkout), ...workOf(checkout) },
    stores: Object.fromEntries(
      stores.flatMap((dir, i) => Object.entries(settingsOf(dir)).map(([word, digest]) => [`${word} ${i}`, digest])),
    ),
  };
}

/** The words whose digests differ; a repository that came or went as a whole tells nothing. */
export function differences(before: Look, after: Look): Evidence['elsewhere'] {
  const changed = (place: keyof Look) => [
    ...new Set(
      Object.keys(before[place])
        .filter((word) => word in after[place] && before[place][word] !== after[place][word])
        .map((word) => word.split(' ')[0]!),
    ),
  ];
  return { checkout: changed('checkout'), stores: changed('stores') };
}

const settingsOf = (gitDir: string): Record<string, string> =>
  existsSync(gitDir)
    ? {
        config: digest(SETTINGS.map((file) => content(`${gitDir}/${file}`))),
        hooks: digest(listing(`${gitDir}/hooks`)),
      }
    : {};

const workOf = (gitDir: string): Record<string, string> => ({
  HEAD: digest([content(`${gitDir}/HEAD`)]),
  index: digest([stamp(`${gitDir}/index`)]),
  refs: digest([stamp(`${gitDir}/packed-refs`), ...listing(`${gitDir}/refs`)]),
});

const digest = (parts: readonly string[]): string => sha256(JSON.stringify(parts));

/** Names, sizes and times of all that is below a folder; no link is followed. */
function listing(dir: string): string[] {
  const found: string[] = [];
  const folders = [dir];
  for (let folder = folders.pop(); folder !== undefined && found.length < MOST_ENTRIES; folder = folders.pop())
    for (const entry of quietly(() => readdirSync(folder!, { withFileTypes: true })) ?? []) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else found.push(`${path} ${stamp(path)}`);
    }
  return found.sort();
}

function stamp(path: string): string {
  const stat = quietly(() => lstatSync(path, { bigint: true }));
  return stat ? `${stat.mode} ${stat.size} ${stat.mtimeNs}` : '';
}

/** Up to 1 MB; a larger one by its stamp. */
function content(path: string): string {
  const stat = quietly(() => lstatSync(path));
  if (!stat?.isFile() || stat.size > 1024 * 1024) return stamp(path);
  return quietly(() => readFileSync(path, 'latin1')) ?? '';
}

function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
