import { formatBytes } from '../values/bytes.ts';

/** What a file system has left for us. */
export interface Space {
  freeBytes: number;
  /** Null where the file system does not count files. */
  files: { free: number; most: number } | null;
}

export interface DiskLimits {
  floorBytes: number;
  reserveBytes: number;
}

/** `low`: no new work is taken in. `full`: so little is left that receipts could not be written. */
export type Level = 'ample' | 'low' | 'full';

/** Beyond the floor by this much before new work is taken in again. */
const HYSTERESIS = 1.1;

/** How many files must be free on a file system that can hold `most`; on a large one a number, not a share. */
const floorFiles = (most: number): number => Math.min(most / 20, 10_000);
const reserveFiles = (most: number): number => Math.min(most / 100, 1_000);

export function levelOf({ freeBytes, files }: Space, limits: DiskLimits, before: Level): Level {
  if (freeBytes < limits.reserveBytes || (files && files.free < reserveFiles(files.most))) return 'full';
  const wanted = before === 'ample' ? 1 : HYSTERESIS;
  if (freeBytes < limits.floorBytes * wanted || (files && files.free < floorFiles(files.most) * wanted)) return 'low';
  return 'ample';
}

/** Why no new work is taken in, and what to do, in one sentence. */
export function shortOf({ freeBytes, files }: Space, { floorBytes }: DiskLimits, where: string): string {
  const short =
    files && files.free < floorFiles(files.most) * HYSTERESIS
      ? `only ${files.free} of ${files.most} files can still be made`
      : `${formatBytes(freeBytes)} free, less than disk.floor (${formatBytes(floorBytes)})`;
  return `the disk of ${where} is short: ${short}; make room there, by fleet clean for one`;
}
