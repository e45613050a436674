import type { Reason } from '../agent/failure.ts';
import type { TaskType } from '../task/schema.ts';

export const RECEIPT_KINDS = [
  'exit',
  'result',
  'tools',
  'network',
  'git',
  'scope',
  'secrets',
  'acceptance',
  'control',
  'held-out',
  'challenge',
  'artifacts',
  'review',
  'replay',
] as const;
export type ReceiptKind = (typeof RECEIPT_KINDS)[number];

/** What one collector found. `summary` is one sentence; `evidence` is small JSON (4 KB at most), never a log. */
export interface Finding {
  ok: boolean;
  summary: string;
  evidence: Record<string, unknown>;
  /**
   * It shows by itself that the work was done, and does not only find nothing wrong; false: it was to show that, and could not
   * tell, so that nothing else shows it either. Set on ok findings alone.
   */
  shows?: boolean;
  /** Set where a failed receipt is more than `receipts-rejected`. */
  reason?: Extract<
    Reason,
    | 'scope-violation'
    | 'fabricated'
    | 'crashed'
    | 'out-of-memory'
    | 'agent-error'
    | 'tampered'
    | 'secret-found'
    | 'invalid-task'
    | 'repo-unavailable'
    | 'check-cannot-start'
    | 'setup-failed'
    | 'blocked-by-agent'
    // The reviewer could not be asked: no fault of the agent's.
    | 'unreviewed'
    | 'coder-missing'
    | 'rate-limited'
    | 'overloaded'
    | 'auth'
  >;
  /** ISO: with `rate-limited`, when it will be over. */
  until?: string;
}

/** A finding by the collector of that kind. */
export interface Found extends Finding {
  kind: ReceiptKind;
}

/** A piece of evidence about a run, gathered by the worker after the agent's whole process tree was dead, and signed. */
export interface Receipt extends Found {
  /** SHA-256 of its signed statement's payload, hex: see `receipts/bundle/seal.ts`. */
  digest: string;
}

/** What follows from the findings. */
export interface Judgement {
  accepted: boolean;
  /** Why not, a sentence each; empty when accepted. */
  reasons: string[];
  /** The reason on the task where it was rejected. */
  reason: Reason | null;
  /** ISO time that came with the reason. */
  until?: string;
  /** False: accepted on the other receipts, as no acceptance command was given. */
  acceptance: boolean;
  /**
   * The receipts that show that the work was done. Empty: none says no, and none shows it or one could not tell, so only a
   * person's yes makes the task done.
   */
  doneBy: ReceiptKind[];
}

/** A judgement as it was signed. */
export interface Verdict extends Judgement {
  /** SHA-256 of the payload of the verdict's statement, which lists the digests of all others: it stands for the whole bundle. */
  digest: string;
}

export interface Required {
  type: TaskType;
  /** Coders of protocol `none` have no result event and report no tools. */
  structured: boolean;
  /** There is an acceptance command. */
  verify: boolean;
  /** It has to fail on the base. */
  control: boolean;
  /** The owner has checks of his own. */
  heldOut: boolean;
  /** Outputs were declared. */
  artifacts: boolean;
  /** Another agent may say no. */
  review: boolean;
}

export function requiredKinds(task: Required): ReceiptKind[] {
  const kinds: ReceiptKind[] = ['exit'];
  if (task.structured) kinds.push('result');
  if (task.structured) kinds.push('tools');
  kinds.push('git', 'scope');
  if (task.verify) kinds.push('acceptance');
  if (task.verify && task.control) kinds.push('control');
  if (task.heldOut) kinds.push('held-out');
  if (task.artifacts) kinds.push('artifacts');
  if (task.review) kinds.push('review');
  return kinds;
}

/** The verdict: accepted only if every required kind is there and ok, and no other receipt says no. */
export function judge(task: Required, receipts: readonly Found[]): Judgement {
  const missing = requiredKinds(task).filter((kind) => !receipts.some((receipt) => receipt.kind === kind));
  return verdictOf(receipts, missing);
}

/** The verdict of these receipts, where nothing else is required. */
export function verdictOf(receipts: readonly Found[], lacking: readonly ReceiptKind[] = []): Judgement {
  const missing = lacking.map((kind) => `${kind}: no receipt`);
  const failed = receipts.filter((receipt) => !receipt.ok);
  // Whatever else is wrong: an agent that says so itself is not told to try again.
  const blocked = failed.filter(({ reason }) => reason === 'blocked-by-agent');
  const refused = [...blocked, ...failed.filter((receipt) => !blocked.includes(receipt))];
  const reasons = refused.length > 0 ? refused.map((receipt) => `${receipt.kind}: ${receipt.summary}`) : missing;
  const accepted = reasons.length === 0;
  const typed = refused.find((receipt) => receipt.reason);
  return {
    accepted,
    reasons,
    reason: accepted ? null : (typed?.reason ?? 'receipts-rejected'),
    ...(typed?.until ? { until: typed.until } : {}),
    acceptance: receipts.some((receipt) => receipt.kind === 'acceptance' && receipt.ok),
    doneBy: shownBy(receipts),
  };
}

const shownBy = (receipts: readonly Found[]): ReceiptKind[] =>
  receipts.some(({ shows }) => shows === false)
    ? []
    : receipts.flatMap(({ kind, ok, shows }) => (ok && shows ? [kind] : []));
