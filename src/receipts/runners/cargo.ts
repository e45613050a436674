import { basename, join } from 'node:path';
import type { Reported } from './reports.ts';
import { entriesOf, type ReportFolder } from './safe-read.ts';

const STATUS = { ok: 'passed', failed: 'failed', ignored: 'skipped' } as const;

/**
 * Adds what Rust's test harness logged: a folder a test binary, with `target` (the package's name, the binary's path) and
 * `log` (`ok tests::works`, `ignored: reason tests::slow`). Tests are named `package > tests::works`, and
 * `package > target > works` where the target is named differently.
 */
export async function readCargoLogs({ folder, reports, allowance }: ReportFolder): Promise<void> {
  for (const { name } of await entriesOf(folder)) {
    if (!name.startsWith('cargo-')) continue;
    const target = await allowance.read(join(folder, name, 'target'));
    if (target === null) continue;
    const log = (await allowance.read(join(folder, name, 'log'))) ?? '';
    const [pkg = '', binary = ''] = target.split('\n');
    const crate = basename(binary).replace(/-[0-9a-f]{16}$/, '');
    const suites = crate === pkg.replaceAll('-', '_') ? [pkg] : [pkg, crate];
    // A reason may have several lines; what a test says in it is quoted, without line ends.
    const tests = log.split(/\n(?=(?:ok|failed|ignored)\b)/).flatMap((entry): Reported[] => {
      const [, status, test] = /^(ok|failed|ignored)\b[^]*? ([^ \n]+)\n?$/.exec(entry) ?? [];
      return status && test ? [{ name: [...suites, test], status: STATUS[status as keyof typeof STATUS] }] : [];
    });
    reports.add('cargo test', tests);
  }
}
