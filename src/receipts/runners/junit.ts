import { basename, join } from 'node:path';
import { matches } from '../../adapters/glob.ts';
import { entriesOf, readHead } from './safe-read.ts';

const MAVEN = ['**/target/surefire-reports/*.xml', '**/target/failsafe-reports/*.xml'];
const GRADLE = ['**/build/test-results/**/*.xml'];
const BUILD_FILE = /^(pom\.xml|(build|settings)\.gradle(\.kts)?)$/;
const LEFT_OUT = new Set(['.git', 'node_modules']);
const MAX_FILES = 500_000;

/**
 * Paths of the JUnit reports in a checkout: where the globs say, and where Maven and Gradle write them. No link is followed.
 * @throws above 500,000 files
 */
export async function findJunit({ tree, results }: { tree: string; results: readonly string[] }): Promise<string[]> {
  const files = await filesBelow(tree);
  const isBuilt = files.some((file) => BUILD_FILE.test(basename(file)));
  const globs = [...results, ...(isBuilt ? [...MAVEN, ...GRADLE] : [])];
  if (globs.length === 0) return [];
  const found: string[] = [];
  for (const file of files.filter(matches(globs))) {
    // A glob may also match other XML.
    const head = await readHead(join(tree, file), 4_096);
    if (/<testsuites?[\s/>]/.test(head)) found.push(join(tree, file));
  }
  return found;
}

async function filesBelow(tree: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(join(tree, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) folders.push(path);
      if (entry.isFile()) files.push(path);
    }
    if (files.length + folders.length > MAX_FILES) throw new Error('too many files');
  }
  return files.toSorted();
}
