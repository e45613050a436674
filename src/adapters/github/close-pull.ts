import type { Answer, GitHub } from './client.ts';

/** Closes what is open for a branch (of the same repository) as long as it is at that commit. Harmless to repeat. */
export function closePull(github: GitHub, { head, commit }: { head: string; commit: string }): Promise<Answer<null>> {
  return github.ask(async (request, at) => {
    const query = { ...at, head: `${at.owner}:${head}`, state: 'open', per_page: 100 } as const;
    const { data } = await request('GET /repos/{owner}/{repo}/pulls', query);
    for (const { number } of data.filter((pull) => pull.head.sha === commit))
      await request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, pull_number: number, state: 'closed' });
    return null;
  });
}
