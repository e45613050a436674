import { git, GitFailed, gitText, type GitOptions } from '../git.ts';

type At = Pick<GitOptions, 'gitDir' | 'as'>;

/** Whether `commit` is in the history of `head`. Throws {@link GitFailed} where that cannot be read. */
export async function isIn({ commit, head, ...at }: At & { commit: string; head: string }): Promise<boolean> {
  return (await orNone(git(['merge-base', '--is-ancestor', commit, head], at))) !== undefined;
}

/** The newest commit that is in the history of both; undefined where there is none. Throws {@link GitFailed} where that cannot be read. */
export async function commonCommit(at: At, one: string, other: string): Promise<string | undefined> {
  return (await orNone(gitText(['merge-base', one, other], at)))?.trim();
}

/** Undefined where git says no, by exit code 1. */
async function orNone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof GitFailed && error.code === 1) return undefined;
    throw error;
  }
}
