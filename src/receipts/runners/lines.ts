import { join } from 'node:path';
import { z } from 'zod';
import type { Reported } from './reports.ts';
import { entriesOf, readHead, type ReportFolder } from './safe-read.ts';

/** One line of a report, see `probes/node/report.cjs`; the first has no test, nor have those that tell of a run's begin and end. */
const line = z.object({
  runner: z.string().max(50),
  name: z.array(z.string()).min(1).optional(),
  file: z.string().nullish(),
  status: z.enum(['passed', 'failed', 'skipped']).optional(),
  fixture: z.literal(true).optional(),
  said: z.string().optional(),
  changed: z.array(z.string().max(200)).max(100).optional(),
  run: z.enum(['begins', 'ends']).optional(),
});

/** Adds the reports of our reporters: one file a test run. A line that is torn or none of theirs is skipped. */
export async function readLines({ folder, reports, allowance }: ReportFolder): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    if (entry.name.endsWith('.now')) await addRunning(join(folder, entry.name), reports);
    const text = entry.name.endsWith('.jsonl') ? await allowance.read(join(folder, entry.name)) : null;
    if (text === null) continue;
    const byRunner = new Map<string, Reported[]>();
    const open = new Set<string>();
    for (const { runner, name, file, status, fixture, said, run, changed } of text.split('\n').flatMap(parse)) {
      if (run === 'begins') open.add(runner);
      if (run === 'ends') open.delete(runner);
      if (changed) reports.addChanged(changed);
      const tests = byRunner.get(runner) ?? [];
      byRunner.set(runner, tests);
      if (name && status) tests.push({ name, file: file ?? undefined, status, fixture, said });
    }
    for (const [runner, tests] of byRunner) reports.add(runner, tests);
    for (const runner of open) reports.addCut(runner);
  }
}

/** Of more than a test's name it is none of ours. */
const NOW_BYTES = 4_096;

/** What ran when the trial was ended, by the slot that a reporter keeps for it. */
async function addRunning(path: string, reports: ReportFolder['reports']): Promise<void> {
  const [found] = parse((await readHead(path, NOW_BYTES)).trim());
  if (found?.name) reports.addRunning(found.name, found.file ?? undefined);
}

function parse(text: string): z.output<typeof line>[] {
  try {
    const parsed = line.safeParse(JSON.parse(text));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}
