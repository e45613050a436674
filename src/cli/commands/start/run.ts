import { isSettled, type Fleet, type TaskReport } from '../../../client.ts';
import { checkCommand, inboxItem, wordLines, type InboxItem } from '../../../domain/list/inbox.ts';
import { command, type Cli } from '../../command.ts';
import { noAcceptance, receiptTable } from '../../output/report.ts';
import { sayNotes } from '../../output/say-notes.ts';
import { statusLine, type StatusLine } from '../../output/status-line.ts';
import { inFlags, orderFromFlags, TASK_FLAGS, type TaskFlags } from '../../input/task-input.ts';
import { oneLine, painter, paintState, paragraph } from '../../output/text.ts';

/** As a shell says it of a command that Ctrl-C ended. */
const DETACHED = 130;

export const run = command<TaskFlags>({
  flags: TASK_FLAGS,
  notes: 'Exits 0 only where the task is done; 130 after Ctrl-C, which leaves the task as it is.',
  examples: [`fleet run 'Add a /health endpoint' --verify 'npm test'`],
  async run(cli, { args, flags }) {
    const fleet = await cli.fleet();
    const order = orderFromFlags(cli, { objective: args[0]!, flags });
    const [started] = await inFlags(() => fleet.enqueueAll([order]));
    const { id } = started!;
    sayNotes(cli, [started!]);
    cli.note(`task ${id}`);
    return follow(cli, fleet, id);
  },
});

/** Shows the task until it is settled or Ctrl-C detaches; gives the exit code. */
async function follow(cli: Cli, fleet: Fleet, id: string): Promise<number> {
  const detach = new AbortController();
  using _ = cli.onSignal(() => detach.abort());
  const line = statusLine(cli);
  let last: TaskReport | undefined;
  let queuedTicks = 0;
  let asked = '';
  for await (const report of fleet.follow(id, { signal: detach.signal })) {
    last = report;
    line.show(report);
    const item = inboxItem(report);
    if (item && item.kind !== 'parked' && item.text !== asked) sayAsked(line, item);
    asked = item?.text ?? '';
    if (report.state === 'queued' && !report.runs.length) queuedTicks += 1;
    // A free worker takes it within a tick or two; asking all workers is not free, so it is done once.
    if (queuedTicks === 3) void sayWaiting(fleet, line, report).catch(() => undefined);
  }
  line.end();
  if (!last || !isSettled(last)) {
    cli.note(
      `detached: task ${id} goes on. Follow it with fleet task ${id} log -f, or end it with fleet task ${id} cancel`,
    );
    return DETACHED;
  }
  const settled = last;
  cli.print(settled, () => verdictOf(cli, settled));
  return settled.state === 'done' ? 0 : 1;
}

function sayAsked(line: StatusLine, { text, word, commands }: InboxItem): void {
  line.say(`it waits for a person: ${text}`);
  for (const each of word ? wordLines(word) : []) line.say(`  ${oneLine(each, 2_000)}`);
  for (const each of commands) line.say(`  ${each}`);
}

/** Only where it would wait for good. */
async function sayWaiting(fleet: Fleet, line: StatusLine, report: TaskReport): Promise<void> {
  const { sentence } = await fleet.explainReport(report);
  if (sentence.startsWith('waiting:')) line.say(sentence);
}

function verdictOf(cli: Cli, report: TaskReport): string {
  const { id, state, verdict, branch, commit, message, receipts } = report;
  const paint = painter(cli);
  const reasons = verdict && !verdict.accepted ? verdict.reasons : state === 'done' || !message ? [] : [message];
  return [
    `${paintState(paint, state)} ${id}${state === 'done' ? noAcceptance(report, ' ') : report.reason ? ` (${report.reason})` : ''}`,
    ...reasons.map((reason) => `  ${paragraph(reason, '    ')}`),
    ...(receipts.length ? [receiptTable(receipts, paint)] : []),
    ...nextOf(report, branch, commit),
  ].join('\n');
}

function nextOf(report: TaskReport, branch: string | null, commit: string | null): string[] {
  const { id, state, runs } = report;
  if (state === 'done')
    return branch ? [`branch ${branch} at ${commit?.slice(0, 10)}: look at it with git log -p -1 ${branch}`] : [];
  if (state !== 'parked') return [`see fleet task ${id} log`];
  const accept = runs.some((each) => each.commit) ? `, fleet task ${id} accept --why '…'` : '';
  return [
    `next: ${checkCommand(report) ?? `fleet task ${id} log`}, fleet task ${id} retry${accept} or fleet task ${id} give-up`,
  ];
}
