import type { Answer, GitHub } from './client.ts';

export interface Issue {
  number: number;
  title: string;
  body: string;
  url: string;
}

const MOST = 50;

/** Open issues with a label, oldest first. */
export function labelledIssues(github: GitHub, label: string): Promise<Answer<Issue[]>> {
  return github.ask(async (request, at) => {
    const { data } = await request('GET /repos/{owner}/{repo}/issues', {
      ...{ ...at, labels: label, state: 'open', sort: 'created', direction: 'asc', per_page: MOST },
    });
    return data
      .filter((issue) => issue.pull_request === undefined)
      .map(({ number, title, body, html_url: url }) => ({ number, title, body: body ?? '', url }));
  });
}

/** The label goes, and with it the issue from the backlog. */
export function takeLabel(github: GitHub, { number, label }: { number: number; label: string }): Promise<Answer<void>> {
  return github.ask(async (request, at) => {
    await request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', {
      ...{ ...at, issue_number: number, name: label },
    });
  });
}
