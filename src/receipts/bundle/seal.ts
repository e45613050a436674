import type { Signer } from '../../adapters/secrets/signer.ts';
import type { Found, Judgement, Receipt, Verdict } from '../../domain/evidence/receipt.ts';
import { sha256 } from '../../adapters/sha256.ts';
import { canonical } from '../canonical.ts';
import { signedLine } from './dsse.ts';
import { isWrong, linesOf, readEnvelope, readRun, readStatement } from './read-bundle.ts';
import type { ApprovalSaid } from '../../domain/people/waiting.ts';
import { statementOf, type Said, type SealContext, type Statement } from './statement.ts';

export interface Sealing {
  /** In the order of `RECEIPT_KINDS`. */
  findings: readonly Found[];
  verdict: Judgement;
  context: SealContext;
  signer: Signer;
  /** The bundle of the worker that verified before: the chain goes on behind it. `context` is then its `contextOf`. */
  previous?: string;
}

export interface Sealed {
  /** The bundle: a DSSE envelope a line, those of `previous` first. */
  text: string;
  /** What was added. */
  receipts: Receipt[];
  verdict: Verdict;
}

/** Signs the run, its receipts in their order, and the verdict, which lists the digests of all that stands before it. */
export function sealBundle({ findings, verdict, context, signer, previous }: Sealing): Sealed {
  const digests = previous === undefined ? [] : payloadsOf(previous).map(sha256);
  let text = previous ?? '';
  const add = (said: Said): string => {
    const payload = canonical(statementOf(said, context, digests.at(-1) ?? null));
    text += `${signedLine(payload, signer)}\n`;
    const digest = sha256(payload);
    digests.push(digest);
    return digest;
  };
  add({ kind: 'run' });
  const receipts = findings.map((found) => ({ ...found, digest: add(found) }));
  const digest = add({ kind: 'verdict', judgement: verdict, listed: [...digests] });
  return { text, receipts, verdict: { ...verdict, digest } };
}

/**
 * The bundle with a person's yes to its result behind the verdict; one that has just that is left as it is. `previous` is the
 * worker's own: nothing of it is checked.
 */
export function sealApproval(
  previous: string,
  { approval, signer, ...own }: { approval: ApprovalSaid; signer: Signer } & Pick<SealContext, 'worker' | 'at'>,
): string {
  const payloads = payloadsOf(previous);
  const there = payloads.some(
    (payload) => orThrow(readStatement(payload)).predicate.x_fleet.approval?.said === approval.said,
  );
  if (there) return previous;
  const prev = sha256(payloads.at(-1)!);
  const payload = canonical(statementOf({ kind: 'approval', approval }, contextOf(previous, own), prev));
  return `${previous}${signedLine(payload, signer)}\n`;
}

/** What a second worker seals with: all that the first one bound its bundle to. Nothing of it is checked: see `verifyBundle`. */
export function contextOf(previous: string, own: Pick<SealContext, 'worker' | 'at'>): SealContext {
  const statement = orThrow(readStatement(payloadsOf(previous)[0]!));
  const { buildDefinition, runDetails } = orThrow(readRun(statement));
  const { task, runId, n, workflowRunId, base, nonce } = statement.predicate.x_fleet;
  const { policy, ...held } = buildDefinition.internalParameters;
  const { startedOn: startedAt, finishedOn: endedAt } = runDetails.metadata;
  const output = Object.fromEntries(runDetails.byproducts.map(({ name, digest }) => [name, digest.sha256]));
  return {
    ...{ task, runId, n, workflowRunId, base, nonce, startedAt, endedAt, ...held },
    subject: subjectOf(statement),
    asked: { task: buildDefinition.externalParameters.task, policy },
    output: { stdout: output['stdout'] ?? '', stderr: output['stderr'] ?? '' },
    ...own,
  };
}

const subjectOf = ({ subject }: Statement): SealContext['subject'] => subject[0]!.digest;
const payloadsOf = (text: string): Buffer[] =>
  orThrow(linesOf(text)).map((line) => Buffer.from(orThrow(readEnvelope(line)).payload, 'base64'));

function orThrow<T extends object>(read: T): Exclude<T, { problem: unknown }> {
  if (isWrong(read)) throw new Error(`no bundle of receipts: ${read.message}`);
  return read as Exclude<T, { problem: unknown }>;
}
