import type { InboxItem } from '../../../client.ts';
import { formatDuration } from '../../../domain/values/duration.ts';
import { wordLines } from '../../../domain/list/inbox.ts';
import { command } from '../../command.ts';
import { standingNotes } from '../../output/standing-notes.ts';
import { oneLine, painter, paragraph, type Paint } from '../../output/text.ts';

export const inbox = command({
  notes: 'What an agent offers as options are suggestions: any answer may be given.',
  examples: ['fleet inbox', 'fleet inbox --json'],
  async run(cli) {
    const fleet = await cli.fleet();
    const items = await fleet.inbox();
    const shown = { paint: painter(cli), nowMs: Date.now() };
    cli.print(items, () =>
      items.length ? items.map((item) => itemText(item, shown)).join('\n\n') : 'no task waits for a person',
    );
    for (const note of await standingNotes(fleet)) cli.note(note);
  },
});

function itemText(item: InboxItem, { paint, nowMs }: { paint: Paint; nowMs: number }): string {
  const { id, title, kind, text, since, commands } = item;
  const what = kind === 'question' ? `asks${item.question ? ` (${item.question})` : ''}` : 'waits';
  const said = kind === 'parked' ? 'is parked' : what;
  const waited = since ? `, for ${formatDuration(nowMs - Date.parse(since))}` : '';
  return [
    `${paint('bold', oneLine(id, 64))}: ${oneLine(title, 120)}`,
    `  ${said}${waited}: ${paragraph(text, '    ')}`,
    ...(item.word ? wordLines(item.word).map((line) => `  ${oneLine(line, 2_000)}`) : []),
    ...(kind === 'question' ? [deadlineText(item, nowMs)].filter(Boolean) : []),
    ...(kind === 'approval' && item.deadline
      ? [`  without a yes in ${formatDuration(Date.parse(item.deadline) - nowMs)} it is a no`]
      : []),
    ...commands.map((line) => `    ${oneLine(line)}`),
  ].join('\n');
}

function deadlineText({ default: otherwise, deadline }: InboxItem, nowMs: number): string {
  if (!deadline)
    return otherwise ? `  without an answer it waits; its default would be ${oneLine(otherwise, 200)}` : '';
  const left = `in ${formatDuration(Date.parse(deadline) - nowMs)}`;
  return otherwise ? `  ${left}, ${oneLine(otherwise, 200)} counts as the answer` : `  ${left} the task is parked`;
}
