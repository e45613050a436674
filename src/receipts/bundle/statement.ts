import type { ReceiptKind, Found, Judgement, Required } from '../../domain/evidence/receipt.ts';
import type { ApprovalSaid } from '../../domain/people/waiting.ts';
import { digestOf } from '../canonical.ts';

/**
 * The statements of one run's bundle: in-toto Statements v1, whose predicates are in-toto's own where there are any.
 * Consumers ignore fields that they do not know: all that is ours stands under the one key `x_fleet`.
 */

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
const OURS = 'urn:infinity-fleet';
const PROVENANCE = 'https://slsa.dev/provenance/v1';
const TEST_RESULT = 'https://in-toto.io/attestation/test-result/v0.1';
const SUMMARY = 'https://slsa.dev/verification_summary/v1';

/** `run` stands first and says what was run; then receipts, the `verdict`, and each `approval` by which the result was delivered. */
export type StatementKind = 'run' | ReceiptKind | 'verdict' | 'approval';

const TESTS: readonly StatementKind[] = ['acceptance', 'control', 'held-out', 'challenge', 'replay'];
export const predicateTypeOf = (kind: StatementKind): string =>
  kind === 'run'
    ? PROVENANCE
    : kind === 'verdict'
      ? SUMMARY
      : TESTS.includes(kind)
        ? TEST_RESULT
        : `${OURS}:receipt:${kind}:v1`;

/** In-toto's `DigestSet` of the result. */
export interface Subject {
  /** Object ids of git, SHA-1 or SHA-256. */
  gitCommit: string;
  gitTree?: string;
  /** The digest of all that was found of the result, as canonical JSON: commit and tree, the changed paths, what must not be in it. */
  sha256: string;
}

/** What every statement of a bundle is bound to, the same in all. */
export interface Binding {
  task: string;
  runId: string;
  /** Epoch: the run's number. */
  n: number;
  workflowRunId: string;
  /** Commit. */
  base: string;
  /** SHA-256 of the task as canonical JSON, with the digest of each held-out check instead of it. */
  spec: string;
  /** Random, of this run. */
  nonce: string;
}

/** What one worker says of one run. */
export interface SealContext extends Omit<Binding, 'spec'> {
  subject: Subject;
  /** The task and what held for it, see `asked`. */
  asked: Asked;
  required: Required;
  where: 'here' | 'other';
  worker: { name: string; machine: string; version: string };
  coder: string;
  model: string | null;
  /** ISO */
  startedAt: string;
  endedAt: string;
  /** All that the agent printed, also what is no longer kept. */
  output: { stdout: string; stderr: string };
  /** ISO: when it was sealed. */
  at: string;
}

export interface Asked {
  task: Record<string, unknown>;
  policy: Record<string, unknown>;
}

/** `x_fleet` of a statement. */
export interface FleetPart extends Binding {
  at: string;
  /** Digest of the payload before it in the file; null for the first. */
  prev: string | null;
  kind: StatementKind;
  receipt?: Omit<Found, 'kind'>;
  verdict?: Judgement;
  approval?: ApprovalSaid;
}

export interface Statement {
  _type: string;
  subject: { name: string; digest: Subject }[];
  predicateType: string;
  predicate: Record<string, unknown> & { x_fleet: FleetPart };
}

/** What a statement has to say: the run itself, one finding, the verdict on all, or a person's yes to it. */
export type Said =
  | { kind: 'run' }
  | Found
  | { kind: 'verdict'; judgement: Judgement; listed: readonly string[] }
  | { kind: 'approval'; approval: ApprovalSaid };

export function statementOf(said: Said, context: SealContext, prev: string | null): Statement {
  const { task, runId, n, workflowRunId, base, nonce, at, subject, asked } = context;
  const spec = digestOf(asked.task);
  const binding = { task, runId, n, workflowRunId, base, spec, nonce, at, prev, kind: said.kind };
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: subjectName({ task, runId }), digest: subject }],
    predicateType: predicateTypeOf(said.kind),
    predicate: predicateOf(said, context, binding),
  };
}

export const subjectName = ({ task, runId }: Pick<Binding, 'task' | 'runId'>): string => `${task}@${runId}`;
export const resultOf = (ok: boolean): 'PASSED' | 'FAILED' => (ok ? 'PASSED' : 'FAILED');

function predicateOf(said: Said, context: SealContext, part: FleetPart): Statement['predicate'] {
  if (said.kind === 'run') return { ...provenance(context), x_fleet: part };
  if ('approval' in said) return { x_fleet: { ...part, approval: said.approval } };
  if ('judgement' in said) {
    const { judgement, listed } = said;
    return { ...summary(judgement, context, listed), x_fleet: { ...part, verdict: judgement } };
  }
  const { kind, ...receipt } = said;
  const tests = TESTS.includes(kind)
    ? { result: resultOf(receipt.ok), configuration: [{ name: 'spec', digest: { sha256: part.spec } }] }
    : {};
  return { ...tests, x_fleet: { ...part, receipt } };
}

function provenance({ asked, required, where, coder, model, ...context }: SealContext): object {
  const { worker, base, workflowRunId, runId, startedAt, endedAt, output } = context;
  return {
    buildDefinition: {
      buildType: `${OURS}:run:v1`,
      externalParameters: { task: asked.task },
      internalParameters: { policy: asked.policy, required, where, coder, model },
      resolvedDependencies: [{ name: 'base', digest: { gitCommit: base } }],
    },
    runDetails: {
      builder: { id: workerUri(worker), version: { 'infinity-fleet': worker.version } },
      metadata: { invocationId: `${workflowRunId}/${runId}`, startedOn: startedAt, finishedOn: endedAt },
      byproducts: Object.entries(output).map(([name, sha256]) => ({ name, digest: { sha256 } })),
    },
  };
}

function summary({ accepted, doneBy }: Judgement, context: SealContext, listed: readonly string[]): object {
  const { worker, at, asked } = context;
  return {
    verifier: { id: workerUri(worker), version: { 'infinity-fleet': worker.version } },
    timeVerified: at,
    resourceUri: `${OURS}:run:${subjectName(context)}`,
    policy: { uri: `${OURS}:policy:v1`, digest: { sha256: digestOf(asked.policy) } },
    inputAttestations: listed.map((sha256) => ({ digest: { sha256 } })),
    verificationResult: resultOf(accepted),
    verifiedLevels: [accepted ? (doneBy.length > 0 ? 'FLEET_ACCEPTED' : 'FLEET_NEEDS_APPROVAL') : 'FAILED'],
  };
}

const workerUri = ({ name, machine }: SealContext['worker']): string => `${OURS}:worker:${machine}/${name}`;
