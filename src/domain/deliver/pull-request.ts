import type { Failure } from '../agent/failure.ts';

/** A pull request as its server tells of it. What people and programs wrote in it is data. */
export interface PullLook {
  state: 'open' | 'merged' | 'closed';
  url: string;
  /** The commit that its branch is at. */
  head: string;
  /** The commit of the target that it does not go with; null where it does, or that is not known yet. */
  conflict: string | null;
  checks: 'none' | 'pending' | 'green' | 'red';
  failed: FailedCheck[];
  /** Checks of it that have not ended. */
  unfinished: number;
  requested: RequestedChanges[];
}
export interface FailedCheck {
  name: string;
  conclusion: string;
  /** What it says itself: its summary, and where it points at. */
  said: string;
  url: string | null;
}
/** The newest word of one reviewer. */
export interface RequestedChanges {
  id: number;
  by: string;
  body: string;
  comments: { path: string; line: number | null; body: string }[];
}

export interface PullWish {
  until: 'opened' | 'green' | 'merged';
  /** The task's result: what is at another commit says nothing of it. */
  commit: string;
  /** Reviews that the agent has heard of. */
  heard: readonly number[];
  /** Milliseconds since the result was put there. */
  waitedMs: number;
  settleMs: number;
}

/** So long the rest of the checks may take once one has failed: the agent is to hear of all at once. */
const RED_MS = 10 * 60_000;
/** So long after a push a server may still show the commit before. */
const MOVED_MS = 5 * 60_000;
const MESSAGE_MAX = 1_900;
const LONGEST_PAUSE_MS = 30 * 60_000;

/** What a look at a pull request means for its task. A failure's `conflict`: the commit to go on from. */
export function judgePull(look: PullLook, wish: PullWish): 'done' | 'wait' | (Failure & { conflict?: string }) {
  if (look.state === 'merged') return 'done';
  if (look.state === 'closed') return { reason: 'pull-closed', message: `${look.url} was closed without being merged` };
  if (wish.until === 'opened') return 'done';
  if (look.head !== wish.commit) {
    if (wish.waitedMs < MOVED_MS) return 'wait';
    const [there, mine] = [look.head, wish.commit].map((id) => id.slice(0, 12));
    const message = `${look.url} is at ${there}, which is not this task's ${mine}: somebody else has pushed to its branch`;
    return { reason: 'repo-unavailable', message };
  }
  const asked = look.requested.filter(({ id }) => !wish.heard.includes(id));
  if (asked.length > 0) return { reason: 'changes-requested', message: clip(asked.map(reviewText).join('\n\n')) };
  if (look.checks === 'red' && (look.unfinished === 0 || wish.waitedMs > RED_MS))
    return { reason: 'checks-failed', message: clip(checksText(look)) };
  if (look.conflict) {
    const message = `${look.url} cannot be merged: it conflicts with ${look.conflict.slice(0, 12)} of its target`;
    return { reason: 'merge-failed', message, conflict: look.conflict };
  }
  if (wish.until === 'merged') return 'wait';
  if (look.checks === 'green') return 'done';
  return look.checks === 'none' && wish.waitedMs >= wish.settleMs ? 'done' : 'wait';
}

/** Milliseconds until the next look: an eighth of the time waited so far, so that days take few looks. */
export const nextLook = (waitedMs: number, pollMs: number): number =>
  Math.min(LONGEST_PAUSE_MS, Math.max(pollMs, Math.round(waitedMs / 8)));

function checksText({ url, failed }: PullLook): string {
  const names = failed.map(({ name, conclusion }) => `${name} (${conclusion})`).join(', ');
  const details = failed.map(({ name, said, url: at }) =>
    [`${name}:${at ? ` ${at}` : ''}`, said].filter(Boolean).join('\n'),
  );
  return `checks of ${url} failed: ${names}\n${details.join('\n')}`;
}

function reviewText({ by, body, comments }: RequestedChanges): string {
  const lines = comments.map(({ path, line, body: said }) => `${path}${line === null ? '' : `:${line}`}: ${said}`);
  return [`${by} asks for changes: ${body}`.trimEnd(), ...lines].join('\n');
}

const clip = (text: string): string => (text.length > MESSAGE_MAX ? `${text.slice(0, MESSAGE_MAX - 1)}…` : text);
