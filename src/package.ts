import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of this product's package.json, from the sources as well as from dist. */
export const PACKAGE_ROOT = findRoot(import.meta.dirname);

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder));
}

const manifest = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string };

/** This product's version. */
export const VERSION = manifest.version;

/** A file that `npm run build` makes, by its path below dist. */
export const builtFile = (path: string): string => join(PACKAGE_ROOT, 'dist', path);
