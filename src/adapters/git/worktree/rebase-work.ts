import { appendFileSync } from 'node:fs';
import { removeTree } from '../../disk/remove-tree.ts';
import { formatOf, initGitDir, writeRef, type Identity } from '../init.ts';
import { mergeTrees } from '../merge.ts';
import { commitObject, writeLoose } from '../objects.ts';
import type { WorkRecord } from '../rescue/work-record.ts';

/**
 * Saved work as it is on another base than its own: merged with that, all of it uncommitted, with both sides marked where
 * they conflict. In a repository made anew that borrows from both.
 */
export async function workOnto(onto: {
  work: WorkRecord;
  base: string;
  baseDir: string;
  dir: string;
  identity: Identity;
}): Promise<WorkRecord> {
  const { work, base, baseDir, dir, identity } = onto;
  const format = formatOf(base);
  await removeTree(dir);
  initGitDir({ dir, format, head: 'ref: refs/heads/none', bare: true, borrow: baseDir });
  appendFileSync(`${dir}/objects/info/alternates`, `${work.gitDir}/objects\n`);
  // What git calls the two sides in the marks.
  const [ours, theirs] = ['target', 'this-task'];
  writeRef(dir, `refs/heads/${ours}`, base);
  writeRef(dir, `refs/heads/${theirs}`, work.commit);
  const { tree } = await mergeTrees({ gitDir: dir, ours, theirs });
  const seconds = Math.floor(Date.parse(work.meta.at) / 1_000);
  const message = `Work of ${work.meta.taskId} on ${base}\n`;
  const body = commitObject({ tree, parents: [base], identity, seconds, message });
  const commit = writeLoose({ gitDir: dir, format }, 'commit', body);
  return { ...work, gitDir: dir, commit, meta: { ...work.meta, base, head: base } };
}
