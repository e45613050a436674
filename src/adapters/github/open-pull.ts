import type { GitHub } from './client.ts';
import { isRefusal, type Answer } from './client.ts';

export interface OpenPull {
  /** Branch of the same repository. */
  head: string;
  /** What `head` is at. */
  commit: string;
  /** Missing: the default branch. */
  base?: string;
  title: string;
  body: string;
  labels: readonly string[];
  draft: boolean;
}
export interface OpenedPull {
  number: number;
  url: string;
}

/**
 * The pull request of a branch: the one that is open for it, with this text, or one that ended with this very commit, or a new
 * one. Harmless to repeat, also where an earlier answer was lost.
 */
export function openPull(github: GitHub, pull: OpenPull): Promise<Answer<OpenedPull>> {
  return github.ask(async (request, at) => {
    const base = pull.base ?? (await request('GET /repos/{owner}/{repo}', at)).data.default_branch;
    const find = async () => {
      const query = { ...at, head: `${at.owner}:${pull.head}`, base, state: 'all', per_page: 100 } as const;
      const { data } = await request('GET /repos/{owner}/{repo}/pulls', query);
      return data.find(({ state }) => state === 'open') ?? data.find(({ head }) => head.sha === pull.commit);
    };
    const { title, body, draft, head } = pull;
    const create = async () => {
      try {
        return (await request('POST /repos/{owner}/{repo}/pulls', { ...at, title, body, draft, head, base })).data;
      } catch (error) {
        // Another try of ours was faster.
        const there = isRefusal(error) && error.status === 422 ? await find() : undefined;
        if (!there) throw error;
        return there;
      }
    };
    const found = (await find()) ?? (await create());
    const { number, html_url: url, state } = found;
    if (state !== 'open') return { number, url };
    if (found.body !== body || found.title !== title)
      await request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, pull_number: number, title, body });
    if (pull.labels.length > 0) {
      const labels = [...pull.labels];
      await request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', { ...at, issue_number: number, labels });
    }
    return { number, url };
  });
}
