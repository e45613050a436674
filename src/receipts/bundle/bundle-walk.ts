import { judge, RECEIPT_KINDS, requiredKinds, type Found, type ReceiptKind } from '../../domain/evidence/receipt.ts';
import { canonical, digestOf } from '../canonical.ts';
import { isWrong, readRun, readVerdict, wrong, type Problem, type RunPart, type Wrong } from './read-bundle.ts';
import { resultOf, subjectName, type Binding, type Statement, type StatementKind } from './statement.ts';

/** A statement that a trusted key has signed. */
export interface Opened {
  statement: Statement;
  digest: string;
  keyId: string;
  /** As the file of trusted keys names them. */
  worker: string;
  machine: string;
}

/** A statement for people. */
export interface Shown {
  kind: StatementKind;
  ok: boolean;
  summary: string;
  worker: string;
  /** ISO */
  at: string;
  digest: string;
}

export interface Expected {
  task?: string | undefined;
  runId?: string | undefined;
  verdict?: string | undefined;
}

export interface Ending {
  accepted: boolean;
  /** Why not. */
  reasons: string[];
  /** The receipts that show that the work was done; where it is accepted and this is empty, a person's yes has to. */
  doneBy: ReceiptKind[];
  task: string;
  runId: string;
  base: string;
  commit: string;
  /** Digest of the last verdict. */
  verdict: string;
}

/** What one worker says: its run, its receipts, its verdict. */
interface Segment extends Pick<Opened, 'keyId' | 'worker' | 'machine'> {
  run: RunPart;
  findings: Found[];
  verdict?: { accepted: boolean; reasons: string[]; doneBy: ReceiptKind[] };
}

const SAME: [keyof Binding, Problem][] = [
  ['task', 'other-task'],
  ['runId', 'other-run'],
  ['n', 'other-epoch'],
  ['workflowRunId', 'other-epoch'],
  ['base', 'other-base'],
  ['spec', 'other-spec'],
  ['nonce', 'other-nonce'],
];

/** Goes through the statements of one bundle in their order; each is held against those before it. */
export class BundleWalk {
  readonly shown: Shown[] = [];
  readonly #expected: Expected;
  readonly #segments: Segment[] = [];
  readonly #digests: string[] = [];
  #first: Statement | undefined;
  #verdict = '';
  #approved = false;

  constructor(expected: Expected) {
    this.#expected = expected;
  }

  add(opened: Opened): Wrong | undefined {
    const { statement, digest, worker } = opened;
    const { kind, prev, at } = statement.predicate.x_fleet;
    const bound = this.#bind(statement);
    if (bound) return bound;
    const refused = this.#place(opened);
    if (refused) return refused;
    if (prev !== (this.#digests.at(-1) ?? null))
      return wrong('chain', `the ${kind} does not follow what stands before it`);
    this.#digests.push(digest);
    if (kind === 'verdict') this.#verdict = digest;
    this.shown.push({ kind, ...saidBy(statement), worker, at, digest });
    return undefined;
  }

  end(): Ending | Wrong {
    const [first, second] = this.#segments;
    const last = this.#segments.at(-1);
    if (!this.#first || !first?.verdict || !last?.verdict)
      return wrong('no-verdict', 'it ends without a verdict: something is missing');
    const elsewhere = first.run.buildDefinition.internalParameters.where === 'other';
    if (elsewhere && first.verdict.accepted && !second)
      return wrong('not-verified-elsewhere', 'the task asks for the verdict of a second worker, and there is none');
    if (first.verdict.accepted !== last.verdict.accepted)
      return wrong('disagreement', 'the second worker came to another verdict');
    const verdict = this.#verdict;
    if (this.#expected.verdict !== undefined && this.#expected.verdict !== verdict)
      return wrong('other-verdict', `its verdict is ${verdict}, not the one that was asked for`);
    const { task, runId, base } = this.#first.predicate.x_fleet;
    const { accepted, reasons } = last.verdict;
    const { doneBy } = first.verdict;
    const commit = this.#first.subject[0]!.digest.gitCommit;
    return { ...{ accepted, reasons, doneBy, task, runId, base, commit, verdict } };
  }

  /** Whether it is of the expected run, and of the same as the first one. */
  #bind(statement: Statement): Wrong | undefined {
    const part = statement.predicate.x_fleet;
    const [subject] = statement.subject;
    const { task = part.task, runId = part.runId } = this.#expected;
    if (part.task !== task) return wrong('other-task', `it is of task ${part.task}, not of ${task}`);
    if (part.runId !== runId) return wrong('other-run', `it is of run ${part.runId}, not of ${runId}`);
    if (!part.runId.startsWith(`${part.n}-`)) return wrong('other-epoch', `run ${part.runId} is not number ${part.n}`);
    if (subject?.name !== subjectName(part)) return wrong('other-run', `it is about ${subject?.name}`);
    this.#first ??= statement;
    const first = this.#first.predicate.x_fleet;
    for (const [key, problem] of SAME)
      if (part[key] !== first[key]) return wrong(problem, `its ${key} is ${part[key]}, not ${first[key]} as before`);
    if (canonical(subject) !== canonical(this.#first.subject[0]))
      return wrong('other-result', 'it is about another result than those before it');
    return undefined;
  }

  /** Whether it may stand here, and says what may stand here. */
  #place({ statement, keyId, worker, machine }: Opened): Wrong | undefined {
    const { kind, spec } = statement.predicate.x_fleet;
    const current = this.#segments.at(-1);
    if (kind === 'run' && this.#approved) return wrong('after-verdict', 'a run stands behind an approval');
    if (kind === 'run' && (!current || current.verdict)) {
      const run = readRun(statement);
      if (isWrong(run)) return run;
      if (digestOf(run.buildDefinition.externalParameters.task) !== spec)
        return wrong('other-spec', 'the task that it shows is not the one that it is bound to');
      const refused = current && this.#mayFollow(run, { keyId, worker, machine });
      if (!refused) this.#segments.push({ keyId, worker, machine, run, findings: [] });
      return refused;
    }
    if (!current) return wrong('order', `it begins with ${kind} instead of the run`);
    if (kind === 'approval') return this.#approve(current, statement, keyId);
    if (current.verdict) return wrong('after-verdict', `the ${kind} stands behind the verdict`);
    if (current.keyId !== keyId) return wrong('mixed-keys', `the ${kind} is signed with another key than its run`);
    if (kind === 'verdict') return this.#conclude(current, statement);
    const earlier = current.findings.map((found) => found.kind);
    if (kind === 'run' || earlier.includes(kind)) return wrong('double', `there is a second ${kind}`);
    if (earlier.some((before) => rank(before) > rank(kind))) return wrong('order', `the ${kind} stands out of order`);
    const { receipt } = statement.predicate.x_fleet;
    if (!receipt) return wrong('not-a-statement', `the ${kind} says nothing`);
    const { result = resultOf(receipt.ok) } = statement.predicate;
    if (result !== resultOf(receipt.ok)) return wrong('contradiction', `the ${kind} says both ok and not ok`);
    current.findings.push({ kind, ...receipt });
    return undefined;
  }

  #mayFollow(run: RunPart, by: Pick<Opened, 'keyId' | 'worker' | 'machine'>): Wrong | undefined {
    const [first] = this.#segments;
    const asked = first?.run.buildDefinition.internalParameters;
    if (!first || this.#segments.length > 1 || asked?.where !== 'other')
      return wrong('after-verdict', 'a run stands behind the last verdict');
    // A worker that was given a new key is no second one.
    if (first.keyId === by.keyId || (first.worker === by.worker && first.machine === by.machine))
      return wrong('not-verified-elsewhere', 'the second verdict is by the worker of the first one');
    const { policy } = run.buildDefinition.internalParameters;
    return canonical(policy) === canonical(asked.policy)
      ? undefined
      : wrong('other-policy', 'the second worker verified by another policy');
  }

  /** A yes to what was accepted, by a worker whose verdict stands before it: the one that keeps the result. */
  #approve({ verdict }: Segment, statement: Statement, keyId: string): Wrong | undefined {
    if (!verdict?.accepted) return wrong('order', 'an approval stands before an accepting verdict');
    if (!this.#segments.some((segment) => segment.keyId === keyId))
      return wrong('mixed-keys', 'the approval is signed with another key than each verdict');
    if (!statement.predicate.x_fleet.approval) return wrong('not-a-statement', 'the approval says nothing');
    this.#approved = true;
    return undefined;
  }

  #conclude(segment: Segment, statement: Statement): Wrong | undefined {
    const said = readVerdict(statement);
    if (isWrong(said)) return said;
    const { policy, required } = segment.run.buildDefinition.internalParameters;
    const { verdict } = said.x_fleet;
    const listed = said.inputAttestations.map(({ digest }) => digest.sha256);
    if (canonical(listed) !== canonical(this.#digests))
      return wrong('verdict-list', 'the verdict does not list exactly what stands before it');
    if (said.policy.digest.sha256 !== digestOf(policy))
      return wrong('other-policy', 'the verdict is by another policy than the run');
    if (said.verificationResult !== resultOf(verdict.accepted))
      return wrong('contradiction', 'the verdict says both accepted and not accepted');
    const second = segment !== this.#segments[0];
    const kinds = segment.findings.map((found) => found.kind);
    const first = this.#segments[0]!.findings.map((found) => found.kind);
    const missing = (second ? elsewhereKinds(first) : requiredKinds(required)).find((kind) => !kinds.includes(kind));
    if (verdict.accepted && missing) return wrong('missing-receipt', `it is accepted without a receipt of ${missing}`);
    const judged = judge(required, segment.findings);
    const accepted = second ? !missing && segment.findings.every(({ ok }) => ok) : judged.accepted;
    if (canonical(judged.doneBy) !== canonical(verdict.doneBy))
      return wrong('contradiction', 'the verdict and the receipts differ in what shows that it was done');
    if (accepted !== verdict.accepted)
      return wrong(
        'contradiction',
        `the verdict says ${resultOf(verdict.accepted)}, the receipts ${resultOf(accepted)}`,
      );
    const replay = segment.findings.find((found) => found.kind === 'replay')?.evidence;
    if (verdict.accepted && second && !isSameDecision(replay))
      return wrong('contradiction', 'the second verdict agrees, and what both decided on is not the same');
    segment.verdict = verdict;
    return undefined;
  }
}

/** A second worker runs again what decides; what it saw of the agent it has from the first one. */
const elsewhereKinds = (first: readonly ReceiptKind[]): ReceiptKind[] => [
  ...AGAIN.filter((kind) => first.includes(kind)),
  'replay',
];
const AGAIN: readonly ReceiptKind[] = ['acceptance', 'control', 'held-out', 'challenge'];

const isSameDecision = ({ first, second }: Record<string, unknown> = {}): boolean =>
  typeof first === 'string' && /^[0-9a-f]{64}$/.test(first) && first === second;

const rank = (kind: ReceiptKind): number => RECEIPT_KINDS.indexOf(kind);

function saidBy(statement: Statement): { ok: boolean; summary: string } {
  const { receipt, verdict, approval } = statement.predicate.x_fleet;
  if (approval) {
    const { by, said, what, why } = approval;
    return { ok: true, summary: `${by} said yes at ${said} to: ${what}${why ? ` (${why})` : ''}` };
  }
  if (receipt) return { ok: receipt.ok, summary: receipt.summary };
  if (verdict) return { ok: verdict.accepted, summary: verdict.reasons.join('; ') || 'accepted' };
  const [{ digest }] = statement.subject as [Statement['subject'][0]];
  return { ok: true, summary: `commit ${digest.gitCommit} on ${statement.predicate.x_fleet.base}` };
}
