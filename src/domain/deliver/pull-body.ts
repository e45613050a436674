import type { Receipt, Verdict } from '../evidence/receipt.ts';

/** What a pull request says of a result. */
export interface PullText {
  id: string;
  title: string;
  objective: string;
  coder: string | null;
  model: string | null;
  commit: string;
  receipts: readonly Pick<Receipt, 'kind' | 'ok' | 'summary'>[];
  verdict: Pick<Verdict, 'digest' | 'acceptance'> | null;
}

const TITLE_MAX = 200;
const OBJECTIVE_MAX = 20_000;
const SUMMARY_MAX = 300;

export const pullTitle = ({ title, id }: PullText): string => open(oneLine(title)).slice(0, TITLE_MAX) || id;

/** Markdown: the objective, who made it, and what the receipts show. */
export function pullBody(text: PullText): string {
  const { id, objective, coder, model, commit, receipts, verdict } = text;
  const who = [coder, model].filter(Boolean).join(' / ') || 'an agent';
  const rows = receipts.map(({ kind, ok, summary }) => `| ${kind} | ${ok ? 'yes' : 'no'} | ${cell(summary)} |`);
  const judged = verdict
    ? `Verdict \`${verdict.digest}\`${verdict.acceptance ? '' : ', without an acceptance command'}.`
    : 'Accepted by a person.';
  return [
    quote(clip(objective)),
    `Made by ${cell(who)} for the task \`${id}\`, at ${commit}.`,
    ...(rows.length ? [['| receipt | ok | shows |', '|---|---|---|', ...rows].join('\n')] : []),
    judged,
  ].join('\n\n');
}

const clip = (text: string): string => (text.length > OBJECTIVE_MAX ? `${text.slice(0, OBJECTIVE_MAX)}\n…` : text);

/** Its words close no issue, neither here nor as the message of a squashed merge. */
const open = (text: string): string =>
  text.replace(/\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=:?\s+\S*\d)/gi, '$&\u200b');
/** Mentions in what others wrote tell nobody. */
const quiet = (text: string): string => open(text).replaceAll('@', '@\u200b');
/** Neither pictures nor HTML: what is shown asks nobody else's server for anything. */
const tame = (text: string): string => text.replaceAll('![', '!\u200b[').replace(/<(?=[a-z/!?])/gi, '<\u200b');
const quote = (text: string): string =>
  quiet(tame(plain(text)))
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
const oneLine = (text: string): string => plain(text).replace(/\s+/g, ' ').trim();
const cell = (text: string): string =>
  quiet(oneLine(text))
    .slice(0, SUMMARY_MAX)
    .replace(/[\\|`<[\]!]/g, '\\$&');
const plain = (text: string): string =>
  text.replace(/\r\n?|[\u2028\u2029]/g, '\n').replace(/[^\P{Cc}\n\t]|\p{Cf}/gu, '');
