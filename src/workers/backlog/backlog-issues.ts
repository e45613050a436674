import { GitHub } from '../../adapters/github/client.ts';
import { labelledIssues, takeLabel } from '../../adapters/github/labelled-issues.ts';
import type { Deps } from '../../activities/worker/context.ts';
import type { BacklogSource } from '../../domain/produce/patrol.ts';
import { slugOf } from '../../domain/produce/plan-ids.ts';
import type { BacklogItem } from './backlog-item.ts';

const TITLE_MAX = 100;

/** A repository's open issues with the label, oldest first. One that was taken loses the label. */
export async function* issueItems(
  { config, env, worker }: Pick<Deps, 'config' | 'env' | 'worker'>,
  { github: name = '', label, task }: BacklogSource,
): AsyncGenerator<BacklogItem> {
  const host = new URL(config.github.api).hostname.replace(/^api\./, '');
  const url = `https://${host}/${name}.git`;
  const opened = GitHub.open({ config: config.github, url, env, worker: worker.name });
  if (!opened.ok) throw new Error(opened.failure.message);
  const { github } = opened;
  const issues = value(await labelledIssues(github, label));
  for (const { number, title, body, url: page } of issues)
    yield {
      id: `${slugOf(name.replaceAll('.', '-')).slice(0, 50)}-${number}`,
      from: page,
      input: {
        title: title.replace(/\s+/g, ' ').slice(0, TITLE_MAX),
        objective: `${title}\n\n${body}\n\n(${page})`,
        repo: typeof task['repo'] === 'string' ? task['repo'] : url,
      },
      settle: async () => value(await takeLabel(github, { number, label })),
    };
}

type Answered<T> =
  Awaited<ReturnType<typeof labelledIssues>> extends infer A
    ? Exclude<A, { ok: true }> | { ok: true; value: T }
    : never;

function value<T>(answer: Answered<T>): T {
  if (answer.ok) return answer.value;
  throw new Error('why' in answer ? answer.why : answer.failure.message);
}
