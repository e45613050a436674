import type { Finding } from '../../domain/evidence/receipt.ts';
import type { Evidence, ReceiptCollector, ResultTree } from '../../ports.ts';
import { clip, counted, named, sample } from '../bounded.ts';
import { claimsWork } from '../claims/claimed-work.ts';

const SUBJECT_MAX = 80;
const COMMITS_MAX = 6;

/** What became of the tree, as walked and hashed by us: never by git in the agent's own repository. */
export const git: ReceiptCollector = {
  kind: 'git',
  async collect(evidence) {
    const { result } = evidence;
    return {
      ...judged(evidence),
      evidence: {
        base: result.base,
        commit: result.commit,
        tree: result.tree,
        commits: result.commits
          .slice(0, COMMITS_MAX)
          .map(({ id, subject }) => ({ id, subject: clip(subject, SUBJECT_MAX) })),
        commitCount: result.commits.length,
        files: kinds(result),
        paths: sample(result.changes.map(({ path }) => path)),
        leftUncommitted: result.leftUncommitted,
        ...(result.own && {
          restored: {
            count: result.own.restored.length,
            paths: sample(result.own.restored).slice(0, 5),
            own: result.own.commit,
          },
        }),
        odd: result.odd === null ? null : clip(result.odd, 200),
        violations: sample(result.violations),
      },
    };
  },
};

function judged({ task, structured, outcome, result }: Evidence): Pick<Finding, 'ok' | 'summary' | 'reason' | 'shows'> {
  const { violations, odd, changes, own } = result;
  if (violations.length > 0)
    return { ok: false, reason: 'tampered', summary: `cannot be delivered: ${named(violations)}` };
  if (odd !== null && rewritten(odd)) return { ok: false, reason: 'tampered', summary: clip(odd, 200) };
  // What another type of task leaves in its repository is not what it was asked for.
  const shows = task.type === 'code' ? { shows: true as const } : {};
  if (changes.length > 0) return { ok: true, ...shows, summary: described(result) };
  if (own)
    return {
      ok: false,
      summary: `nothing is left of the change: ${named(own.restored)} ${own.restored.length === 1 ? 'is' : 'are'} as in the base again; a task that is to change such files names them in scope.allow`,
    };
  if (task.type !== 'code') return { ok: true, summary: 'nothing was changed' };
  const ended = structured && outcome.ended?.ok === true && outcome.blocked === undefined;
  const claims = ended && claimsWork(outcome.claim);
  return claims
    ? { ok: false, reason: 'fabricated', summary: 'the agent says that it is done, but no file was changed' }
    : { ok: false, summary: 'no file was changed' };
}

/** The base, or a commit before it, is no longer what the agent's work stands on. */
const rewritten = (odd: string): boolean => /rewr[io]t|ancestor|descend/i.test(odd);

function described(result: ResultTree): string {
  const { commits, leftUncommitted, odd, own: left } = result;
  const notes = [
    leftUncommitted > 0 && `${counted(leftUncommitted, 'file')} left uncommitted by the agent`,
    left !== undefined && `delivered with ${named(left.restored)} as in the base`,
    odd !== null && `as one commit of the worker's: ${clip(odd, 200)}`,
  ].filter((note) => note !== false);
  const parts = Object.entries(kinds(result)).map(([kind, n]) => `${n} ${kind}`);
  const own = commits.length > 0 ? `${counted(commits.length, 'commit')}, ` : '';
  return [`${own}${counted(result.changes.length, 'file')} (${parts.join(', ')})`, ...notes].join('; ');
}

/** Files by what happened to them: `{ added: 1, modified: 2 }`. */
function kinds({ changes }: ResultTree): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { kind } of changes) found[kind] = (found[kind] ?? 0) + 1;
  return found;
}
