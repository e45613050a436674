import { withQueue, type GitQueue } from '../../src/producers/git-queue/queue.ts';
import { git, IDENTITY, makeRepo, write } from './git.ts';

/** A bare repository in `dir` with these files, a clone of a plain user, and the queue as somebody of another home has it. */
export function queueLab(dir: string, files: Record<string, string> = { 'README.md': 'hello\n' }, ...init: string[]) {
  makeRepo(`${dir}/user`, files, ...init);
  git(dir, 'clone', '-q', '--bare', `${dir}/user`, `${dir}/q.git`);
  git(`${dir}/user`, 'remote', 'add', 'origin', `${dir}/q.git`);
  const use = <T>(work: (queue: GitQueue) => Promise<T>, over: object = {}) =>
    withQueue({ url: `${dir}/q.git`, home: `${dir}/home`, identity: IDENTITY, ...over }, work);
  const user = (...args: string[]) => git(`${dir}/user`, ...args);
  /** What a plain user does: edit, commit, rebase, push. */
  const push = (edits: Record<string, string>) => {
    write(`${dir}/user`, edits);
    user('add', '-A');
    user('commit', '-qm', 'by hand');
    user('pull', '-q', '--rebase', 'origin', 'main');
    user('push', '-q', 'origin', 'HEAD:main');
  };
  const show = (path: string, branch = 'main') => git(`${dir}/q.git`, 'show', `${branch}:${path}`);
  return { dir, use, user, push, show };
}
