import type { Policy } from './repo-policy.ts';
import type { Task } from './task.ts';

/** What the agent is told, by stdin: the objective, its limits, what will be checked, and what went wrong before. */
export function buildPrompt(order: {
  task: Pick<Task, 'objective' | 'type' | 'artifacts'>;
  policy: Pick<Policy, 'allow' | 'protect' | 'verify'>;
  feedback: readonly string[];
  branch: string;
  plan: string;
  knowledge: string;
}): string {
  const { task, policy, feedback } = order;
  const allowed = policy.allow.filter((list) => list.length > 0);
  const readOnly = policy.allow.some((list) => list.length === 0);
  return [
    section('Objective', task.objective),
    feedback.length > 0 &&
      section(
        'Earlier runs of this task were rejected',
        `They started from the same commit, and their changes are gone. Mend what they got wrong:\n${list(feedback)}`,
      ),
    section(
      'Rules',
      list(
        [
          `You work alone and unattended in a private clone, on branch ${order.branch}. Nobody can answer a question or a prompt.`,
          readOnly
            ? 'Change no file of the repository: this task is read-only.'
            : task.type === 'code' &&
              'Commit your work with clear messages; do not push, and do not rewrite commits that were there before.',
          !readOnly &&
            allowed.length > 0 &&
            `Change only files that match ${allowed.map((globs) => globs.join(', ')).join(' and ')}.`,
          policy.protect.length > 0 && `Do not change files that match ${policy.protect.join(', ')}.`,
          task.artifacts.length > 0 && `Leave these outputs in the worktree: ${task.artifacts.join(', ')}.`,
        ].filter((rule) => typeof rule === 'string'),
      ),
    ),
    policy.verify.length > 0 &&
      section(
        'How it will be checked',
        `In a fresh checkout of your result, with protected files as they were:\n${list(policy.verify.map((command) => `\`${command}\``))}\nSaying that it is done has no effect; only these checks count.`,
      ),
    section(
      'Notes',
      list([
        `${order.plan}: keep your plan and what is done here; a later run of this task reads it.`,
        `${order.knowledge}: write down what you learnt of this repository that the next run should know.`,
      ]),
    ),
  ]
    .filter((part) => typeof part === 'string')
    .join('\n\n')
    .concat('\n');
}

const section = (title: string, text: string): string => `# ${title}\n\n${text}`;
const list = (items: readonly string[]): string => items.map((item) => `- ${item.replaceAll('\n', '\n  ')}`).join('\n');
