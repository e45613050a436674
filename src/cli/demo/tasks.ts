import { join } from 'node:path';
import type { TaskReport } from '../../client.ts';
import type { Reason } from '../../domain/agent/failure.ts';
import type { TaskInput } from '../../domain/task/schema.ts';
import { PACKAGE_ROOT } from '../../package.ts';

const AGENT = join(PACKAGE_ROOT, 'agents/demo-agent.mjs');

/** One task of the demo: how its agent behaves, and what a fleet that can be trusted makes of it. */
interface DemoTask {
  behaviour: string;
  title: string;
  expected: { state: 'done' | 'parked'; reason?: Reason; runs?: number };
  more?: Partial<TaskInput>;
}

const ONCE = { retry: { maxAttempts: 1 } } as const;

export const DEMO_TASKS: readonly DemoTask[] = [
  { behaviour: 'fix', title: 'fixes the bug', expected: { state: 'done', runs: 1 } },
  {
    behaviour: 'lie',
    title: 'says 86/86 tests pass, does nothing',
    expected: { state: 'parked', reason: 'fabricated' },
    more: ONCE,
  },
  {
    behaviour: 'weaken',
    title: 'weakens the tests',
    expected: { state: 'parked', reason: 'scope-violation' },
    more: ONCE,
  },
  {
    behaviour: 'hang',
    title: 'hangs',
    expected: { state: 'parked', reason: 'stalled' },
    more: { ...ONCE, limits: { idle: '5s' } },
  },
  {
    behaviour: 'learn',
    title: 'fails first, succeeds when told why',
    expected: { state: 'done', runs: 2 },
    more: { retry: { maxAttempts: 2, backoff: '1s' } },
  },
  { behaviour: 'daemon', title: 'leaves a daemon behind', expected: { state: 'done', runs: 1 } },
];

/** The small agents as coders of the demo's config.yaml: any program that speaks a known protocol is one. */
export const demoCoders = (): Record<string, { command: string[]; protocol: 'claude' }> =>
  Object.fromEntries(
    DEMO_TASKS.map(({ behaviour }) => [
      behaviour,
      { command: [process.execPath, AGENT, behaviour], protocol: 'claude' },
    ]),
  );

export const demoInput = ({ behaviour, title, more }: DemoTask, repo: string): TaskInput => ({
  objective: 'discount(price, percent) in src/discount.js is wrong: it must take that share off the price. Fix it.',
  title,
  repo,
  coder: behaviour,
  ...more,
});

export const asExpected = ({ expected }: DemoTask, report: TaskReport): boolean =>
  report.state === expected.state &&
  (!expected.reason || report.reason === expected.reason) &&
  (!expected.runs || report.runs.length === expected.runs);

/** One reason for the verdict. */
export function reasonOf(report: TaskReport): string {
  if (report.state !== 'done') return report.message ?? report.reason ?? '';
  const exit = report.receipts.find(({ kind }) => kind === 'exit');
  const acceptance = report.receipts.find(({ kind }) => kind === 'acceptance');
  return [
    acceptance?.summary,
    /left behind/.test(exit?.summary ?? '') && exit?.summary,
    report.runs.length > 1 && `run ${report.runs.length}`,
  ]
    .filter((part) => typeof part === 'string')
    .join('; ');
}
