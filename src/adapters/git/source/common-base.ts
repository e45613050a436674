import { commonCommit, isIn } from './ancestry.ts';
import { GitFailed } from '../git.ts';
import { resolveBase } from './resolve-base.ts';
import { reading, type Source } from './source.ts';

/**
 * The newest commit of a target that a commit has, where the task's base is in it: what lies before that is others' work, and
 * is in the target. Undefined where there is none, or where the commit itself is in the target.
 */
export async function commonBase(of: {
  source: Source;
  base: string;
  /** A branch, tag or commit, as the source knows it. */
  ref: string;
  /** A branch; missing: the default one. */
  into: string | undefined;
  signal: AbortSignal;
}): Promise<string | undefined> {
  const { source, base, ref, into, signal } = of;
  const found: string[] = [];
  for (const name of [base, ref, into]) {
    const resolved = await resolveBase({ source, signal, ...(name === undefined ? {} : { base: name }) });
    if (!resolved.ok) return undefined;
    found.push(resolved.commit);
  }
  const [from = '', commit = '', target = ''] = found;
  try {
    const common = await commonCommit(reading(source), commit, target);
    if (!common || common === commit || common === from) return undefined;
    return (await isIn({ ...reading(source), commit: from, head: common })) ? common : undefined;
  } catch (error) {
    if (error instanceof GitFailed) return undefined;
    throw error;
  }
}
