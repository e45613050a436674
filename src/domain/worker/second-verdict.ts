import type { Receipt, ReceiptKind } from '../evidence/receipt.ts';
import type { RunRef, Verified } from '../view/task-view.ts';
import type { Task } from '../task/schema.ts';
import type { PublicKey } from './worker.ts';

/** What a verification decided and on what: nothing in it depends on the machine, its speed or its folders. */
export interface Decision {
  /** The result's tree. */
  tree: string;
  /** Digest of the commands and what else was to be checked. */
  asked: string;
  /** Each receipt that a second worker can gather, and whether it was ok. */
  receipts: { kind: ReceiptKind; ok: boolean }[];
  steps: { command: string; exitCode: number | null; timedOut: boolean }[];
  /** Digest of the named tests and how each ended; null where no known test runner ran. */
  tests: string | null;
  /** Digest of what the checks that no agent can see came to; null where there are none. */
  heldOut: string | null;
}

/** A worker that may verify again what another one has accepted. */
export interface SecondWorker {
  name: string;
  machine: string;
  hostQueue: string;
  /** What it signs with; a worker without one cannot be asked. */
  publicKey: PublicKey;
  /** Milliseconds, see `Claim`. */
  lease: { heartbeatMs: number; graceMs: number };
}

/** All that a second worker needs to begin from nothing. */
export interface ReplayInput extends RunRef {
  /** Without its objective. */
  task: Task;
  base: string;
  commit: string;
  tree: string;
  /** Where the repository has the commit; null where nothing was changed. */
  ref: string | null;
  /** The first worker's bundle: the second one's chain goes on behind it. */
  bundle: string;
  /** What the first one decided. */
  decision: Decision;
}

/** What the second worker found. */
export interface Replayed {
  worker: string;
  machine: string;
  decision: Decision;
  /** The decision's digest. */
  digest: string;
  /** Its signed statements, a line each, to stand behind the first worker's. */
  lines: string;
  /** The receipt in them that says whether both came to the same verdict. */
  receipt: Receipt;
  /** Digest of the verdict in them. */
  verdict: string;
}

/** The final verdict on what the first worker has accepted, and nothing else of what that one said is changed. */
export function settledBy(
  { elsewhere: _asked, ...first }: Verified,
  settled: { ok: true } | { ok: false; /** Whether its receipt still counts. */ holds: boolean; why: string },
  { receipt, verdict }: Pick<Replayed, 'receipt' | 'verdict'>,
): Verified {
  const counts = settled.ok || settled.holds;
  const digest = counts ? { digest: verdict } : {};
  return {
    ...first,
    receipts: counts ? [...first.receipts, receipt] : first.receipts,
    verdict: settled.ok
      ? { ...first.verdict, ...digest }
      : {
          ...{ ...first.verdict, accepted: false, reasons: [`replay: ${settled.why}`], reason: 'receipts-rejected' },
          ...digest,
        },
  };
}

/** Where two verifications of one result differ, a sentence each; nothing is said of what no agent may see. */
export function differences(first: Decision, second: Decision): string[] {
  const steps = Math.max(first.steps.length, second.steps.length);
  const differing = Array.from({ length: steps }, (_, i) => [first.steps[i], second.steps[i]] as const).find(
    ([one, other]) => howEnded(one) !== howEnded(other) || one?.command !== other?.command,
  );
  const verdicts = first.receipts.flatMap(({ kind, ok }) => {
    const other = second.receipts.find((receipt) => receipt.kind === kind);
    return other?.ok === ok ? [] : [`${kind} was ${word(ok)} here and ${other ? word(other.ok) : 'missing'} there`];
  });
  return [
    ...(first.tree === second.tree ? [] : [`the tree was ${first.tree} here and ${second.tree} there`]),
    ...(first.asked === second.asked ? [] : ['they checked different things']),
    ...verdicts,
    ...(differing
      ? [
          `\`${(differing[0] ?? differing[1])?.command}\` ${howEnded(differing[0])} here and ${howEnded(differing[1])} there`,
        ]
      : []),
    ...(first.tests === second.tests ? [] : ['the named tests that ran, or how they ended, were not the same']),
    ...(first.heldOut === second.heldOut ? [] : ['the checks that the agent cannot see came out differently']),
  ];
}

const word = (ok: boolean): string => (ok ? 'ok' : 'not ok');

function howEnded(step: Decision['steps'][number] | undefined): string {
  if (!step) return 'was not run';
  return step.timedOut ? 'ran out of time' : `ended with ${step.exitCode}`;
}
