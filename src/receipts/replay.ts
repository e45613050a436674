import type { Finding, Found, ReceiptKind } from '../domain/evidence/receipt.ts';
import { differences, type Decision, type Replayed } from '../domain/worker/second-verdict.ts';
import type { Policy } from '../domain/repository/repo-policy.ts';
import type { ReceiptCollector, Tried } from '../ports.ts';
import { acceptanceAgain } from './kinds/acceptance.ts';
import { digestOf } from './canonical.ts';
import { challenge } from './challenge/index.ts';
import { control } from './kinds/control.ts';
import { heldOut } from './kinds/held-out.ts';
import type { TrustedKey } from './bundle/trusted-keys.ts';
import { verifyBundle } from './bundle/verify-bundle.ts';

/** What a second worker gathers: all that follows from the result alone. */
export const REPLAYED: readonly ReceiptCollector<Tried>[] = [acceptanceAgain, control, heldOut, challenge];

/** What these findings decide, on either worker. */
export function decisionOf(
  { tree, policy }: { tree: string; policy: Policy },
  findings: readonly Pick<Found, 'kind' | 'ok' | 'evidence'>[],
): Decision {
  const { setup, copy, verify, checks, allow, protect } = policy;
  const about = (kind: ReceiptKind): Record<string, unknown> =>
    findings.find((finding) => finding.kind === kind)?.evidence ?? {};
  const accepted = about('acceptance');
  const unseen = about('held-out')['checks'];
  const steps = (accepted['steps'] ?? []) as Decision['steps'];
  return {
    tree,
    asked: digestOf({ setup, copy, verify, checks, allow, protect }),
    receipts: REPLAYED.flatMap(({ kind }) => {
      const found = findings.find((finding) => finding.kind === kind);
      return found ? [{ kind, ok: found.ok }] : [];
    }),
    steps: steps.map(({ command, exitCode, timedOut }) => ({ command, exitCode, timedOut })),
    tests: (accepted['testsDigest'] as string | null | undefined) ?? null,
    heldOut: unseen === undefined ? null : digestOf(unseen),
  };
}

/** Whether a second worker comes to the verdict of the first one. Which of two is wrong nobody knows. */
export function replayFinding(
  first: Decision,
  second: { decision: Decision; worker: { name: string; machine: string } },
): Finding {
  const { decision, worker } = second;
  const differ = differences(first, decision);
  const digests = { first: digestOf(first), second: digestOf(decision) };
  const ok = differ.length === 0 && digests.first === digests.second;
  const who = `worker ${worker.name} on ${worker.machine}`;
  return {
    ok,
    summary: ok
      ? `${who} fetched the result and came to the same verdict`
      : `${who} came to another verdict, and nobody knows which is wrong: ${differ.join('; ')}`,
    evidence: { worker: worker.name, machine: worker.machine, ...digests, differences: differ },
  };
}

export type Settled =
  | { ok: true; text: string }
  | { ok: false; /** Null: its lines are worth nothing. */ text: string | null; why: string };

/** Whether a second worker's answer holds and agrees. `text`: both bundles in one. */
export function compareReplay(
  first: { text: string; decision: Decision; task: string; runId: string },
  replayed: Replayed,
  given: { trusted: readonly TrustedKey[]; now: number },
): Settled {
  const { text: own, decision, task, runId } = first;
  const { lines, receipt, worker, verdict } = replayed;
  const text = own.endsWith(lines) ? own : own + lines;
  const checked = verifyBundle(text, { ...given, task, runId });
  const shown = checked.statements.findLast(({ kind }) => kind === 'replay');
  const useless = (why: string): Settled => ({
    ok: false,
    text: null,
    why: `the answer of worker ${worker} does not hold: ${why}`,
  });
  if (!checked.ok && checked.problem !== 'disagreement') return useless(checked.message);
  if (!shown || shown.digest !== receipt.digest || shown.ok !== receipt.ok)
    return useless('its receipt is not what it signed');
  if (!shown.ok) return { ok: false, text, why: receipt.summary };
  const same = replayed.digest === digestOf(replayed.decision) && replayed.digest === digestOf(decision);
  if (!checked.ok || !same) return useless('its digest is not that of the same verdict');
  return checked.verdict === verdict ? { ok: true, text } : useless('its verdict is not what it signed');
}
