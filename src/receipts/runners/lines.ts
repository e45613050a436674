import { join } from 'node:path';
import { z } from 'zod';
import type { Reported } from './reports.ts';
import { entriesOf, type ReportFolder } from './safe-read.ts';

/** One line of a report, see `probes/node/report.cjs`; the first has no test. */
const line = z.object({
  runner: z.string().max(50),
  name: z.array(z.string()).min(1).optional(),
  file: z.string().nullish(),
  status: z.enum(['passed', 'failed', 'skipped']).optional(),
});

/** Adds the reports of our reporters: one file a test run. A line that is torn or none of theirs is skipped. */
export async function readLines({ folder, reports, allowance }: ReportFolder): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const text = entry.name.endsWith('.jsonl') ? await allowance.read(join(folder, entry.name)) : null;
    if (text === null) continue;
    const byRunner = new Map<string, Reported[]>();
    for (const { runner, name, file, status } of text.split('\n').flatMap(parse)) {
      const tests = byRunner.get(runner) ?? [];
      byRunner.set(runner, tests);
      if (name && status) tests.push({ name, file: file ?? undefined, status });
    }
    for (const [runner, tests] of byRunner) reports.add(runner, tests);
  }
}

function parse(text: string): z.output<typeof line>[] {
  try {
    const parsed = line.safeParse(JSON.parse(text));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}
