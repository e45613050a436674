import type { TaskReport } from '../../client.ts';
import { inboxItem, wordLines } from '../../domain/list/inbox.ts';

/** Of `fleet task <id>`: what it waits for beside a slot, what people said to it, and where it belongs. */
export function waitFacts(report: TaskReport): [string, string | null | undefined][] {
  const { dependsOn = [], question, answers = [], approvals = [], outside, handedIn, pull, merge } = report;
  const item = inboxItem(report);
  return [
    ['For', report.for && `${report.for}, outside the fleet`],
    ['Held', outside && `by ${outside.as} until ${outside.until}`],
    [
      'Handed in',
      handedIn && `by ${handedIn.as}${handedIn.commit ? ` as ${handedIn.commit}` : ''}: ${handedIn.result}`,
    ],
    ['Needs', dependsOn.map(({ id, state }) => `${id} (${state ?? 'not heard of yet'})`).join(', ')],
    ['Asks', question && `${question.id}: ${question.text}`],
    ['Options', question?.options.join(', ')],
    [
      'Deadline',
      question?.deadline && `${question.deadline}${question.default === null ? '' : `, then ${question.default}`}`,
    ],
    ...answers.map((one): [string, string] => ['Answered', `${one.question} by ${one.by}: ${one.answer}`]),
    ...approvals.map((one): [string, string] => [
      one.approved ? 'Approved' : 'Rejected',
      `${one.stage} by ${one.by}${one.why ? `: ${one.why}` : ''}`,
    ]),
    ['Pull', pull && `${pull.url}, ${pull.state}, checks ${pull.checks}`],
    ['Merge', merge && `place ${merge.place} for ${merge.into}`],
    ['Parent', report.parent],
    ...(report.followUps ?? []).map((one): [string, string] =>
      one.refused === undefined
        ? ['Follow-up', `${one.id}: ${one.title}`]
        : ['Refused', `${one.title ? `follow-up ${one.title}: ` : ''}${one.refused}`],
    ),
    ...(item?.word ? wordLines(item.word) : []).map((line, index): [string, string] => [
      index === 0 ? 'Its word' : '',
      line,
    ]),
    ...(item?.commands ?? []).map((line, index): [string, string] => [index === 0 ? 'Type' : '', line]),
  ];
}
