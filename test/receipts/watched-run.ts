import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { TestReport } from '../../src/domain/evidence/test-results.ts';
import { clearResults, readTests, watchTests } from '../../src/receipts/runners/index.ts';
import { tempDir } from '../helpers/temp.ts';

export interface WatchedRun {
  exitCode: number | null;
  output: string;
  report: TestReport | null;
  /** `passed a.test.js | suite > test`, `-` for no file; null as in `report`. */
  tests: string[] | null;
}

/** One real run of a command in a fresh folder with these files; `links`: paths there that lead to folders of ours. */
export async function watchedRun(
  command: string,
  files: Record<string, string>,
  options: { links?: Record<string, string>; results?: string[]; watch?: boolean; path?: string[] } = {},
): Promise<WatchedRun> {
  const { links = {}, results = [], watch = true } = options;
  await using temp = await tempDir();
  const [tree, dir, home] = ['checkout', 'aside/reports', 'home'].map((name) => join(temp.path, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [tree, home]) mkdirSync(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  for (const [path, target] of Object.entries(links)) symlinkSync(resolve(target), join(tree, path));
  await clearResults({ tree, results });
  const { env, path } = watch ? await watchTests(dir) : { env: {}, path: [] };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: tree,
    env: { ...caches, HOME: home, CI: '1', LC_ALL: 'C', ...env, PATH: [...path, process.env['PATH']].join(':') },
    encoding: 'utf8',
  });
  const report = await readTests({ dir, tree, results });
  const lines = report?.tests.map(({ status: how, file = '-', name }) => `${how} ${file} | ${name}`) ?? null;
  return { exitCode: status, output: stdout + stderr, report, tests: lines };
}

/** What would take long to build anew in an empty HOME. */
const caches = {
  GOCACHE: join(homedir(), '.cache/go-build'),
  RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup'),
  CARGO_HOME: process.env['CARGO_HOME'] ?? join(homedir(), '.cargo'),
};
