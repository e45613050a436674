import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaveGroups, sweepGroups } from '../../src/adapters/sandbox/cgroup.ts';
import { runContained, type ContainOptions } from '../../src/adapters/keeper/contained.ts';
import { PATH, processesWith } from './keeper-bench.ts';

/** A home with secrets, a work folder and a base store in it, and a user's repository beside it. */
export function containedBench() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleet-contained-')));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = `${root}/tmp`;
  const paths = {
    root,
    home: `${root}/home`,
    work: `${root}/home/runs/t/1-a/work`,
    base: `${root}/home/bases/r`,
    repo: `${root}/repo`,
    log: `${root}/log`,
  };
  for (const dir of [paths.work, paths.base, `${root}/tmp`, `${paths.home}/keys`, paths.repo])
    mkdirSync(dir, { recursive: true });
  for (const file of [
    `${paths.home}/keys/key`,
    `${paths.home}/runs/t/1-a/exit.json`,
    `${paths.base}/object`,
    `${paths.repo}/file`,
  ])
    writeFileSync(file, 'secret');
  const tag = `${1_000_000 + Math.floor(Math.random() * 1_000_000_000)}`;
  return {
    ...paths,
    tag,
    log: () => readFileSync(paths.log),
    run: (command: string, options: Partial<ContainOptions> & { timeoutMs?: number; cwd?: string } = {}) =>
      runContained(
        { command, cwd: options.cwd ?? paths.work, timeoutMs: options.timeoutMs ?? 20_000, logFile: paths.log },
        {
          isolation: 'namespace',
          limits: {},
          home: paths.home,
          show: [{ path: paths.work }, { path: paths.base, readOnly: true }],
          env: { PATH, TAG: tag, H: paths.home, R: paths.repo },
          ...options,
        },
      ),
    survivors: () => processesWith(tag),
    [Symbol.dispose]() {
      const left = [...readdirSync(`${root}/tmp`), ...processesWith(tag)];
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      rmSync(root, { recursive: true });
      sweepGroups(paths.home, () => true);
      leaveGroups(paths.home);
      if (left.length > 0) throw new Error(`left behind: ${left.join()}`);
    },
  };
}
