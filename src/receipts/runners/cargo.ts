import { basename, join } from 'node:path';
import type { Reported } from './reports.ts';
import { entriesOf, type ReportFolder } from './safe-read.ts';

const STATUS = { ok: 'passed', failed: 'failed', ignored: 'skipped' } as const;

/**
 * Adds what Rust's test harness logged: a folder a test binary, with `target` (the package's name, the binary's path) and
 * `log` (`ok tests::works`, `ignored: reason tests::slow`). Tests are named `package > tests::works`, and
 * `package > target > works` where the target is named differently. The log has them as they ended, side by side: they are put
 * in the order of their names.
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
    const ended = log.split(/\n(?=(?:ok|failed|ignored)\b)/).flatMap((entry) => {
      const [, status, test] = /^(ok|failed|ignored)\b[^]*? ([^ \n]+)\n?$/.exec(entry) ?? [];
      return status && test ? [{ test, status: STATUS[status as keyof typeof STATUS] }] : [];
    });
    const byName = ended.toSorted((a, b) => (a.test < b.test ? -1 : Number(a.test > b.test)));
    reports.add(
      'cargo test',
      byName.map(({ test, status }): Reported => ({ name: [...suites, test], status })),
    );
  }
}
