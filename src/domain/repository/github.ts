import { z } from 'zod';
import { duration } from '../task/schema.ts';

/** Where pull requests are made. */
export const github = z
  .strictObject({
    /** The worker's environment variable that holds the token. */
    tokenEnv: z
      .string()
      .regex(/^(?!gh[a-z]_|github_pat_)[A-Za-z_][A-Za-z0-9_]*$/, {
        error: 'must be the name of an environment variable',
      })
      .default('GITHUB_TOKEN'),
    /** Its token goes nowhere else. */
    api: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).default('https://api.github.com'),
    /** By URL, for those that do not say it themselves. */
    repositories: z
      .record(z.string(), z.string().regex(/^[\w.-]+\/[\w.-]+$/, { error: 'must be <owner>/<name>' }))
      .default({}),
    /** How soon a pull request is looked at again, at first. */
    poll: duration.default('15s'),
    /** One that has no checks after so long has none. */
    settle: duration.default('2m'),
  })
  .prefault({});
export type GitHubConfig = z.output<typeof github>;

export type GitHubRepository = {
  owner: string;
  repo: string;
};

/** The repository that a URL names on the configured server, or why it is none, one sentence. */
export function repositoryOf(
  { api, repositories }: Pick<GitHubConfig, 'api' | 'repositories'>,
  url: string,
): GitHubRepository | { wrong: string } {
  const mapped = repositories[url];
  const host = new URL(api).hostname.replace(/^api\./, '');
  const named = /^(?:(?:https?|ssh|git):\/\/)?(?:[^@/\s]+@)?([^/:\s]+)(?::\d+)?[/:](.+?)(?:\.git)?\/*$/.exec(url);
  const path = mapped ?? (named?.[1]?.toLowerCase() === host ? named[2] : undefined);
  const [owner, repo, ...more] = path?.split('/') ?? [];
  if (owner && repo && more.length === 0) return { owner, repo };
  return {
    wrong: `repo ${withoutUser(url)} is none of ${host}: set github.api, or name it under github.repositories`,
  };
}

const withoutUser = (url: string): string => url.replace(/\/\/[^/@]*@/, '//');
