import { z } from 'zod';
import { RECEIPT_KINDS, type Required } from '../../domain/evidence/receipt.ts';
import { TASK_TYPES } from '../../domain/task/schema.ts';
import { parseCanonical } from '../canonical.ts';
import { PAYLOAD_TYPE, type Envelope } from './dsse.ts';
import { predicateTypeOf, STATEMENT_TYPE, type Statement } from './statement.ts';

/** Reads what a file says to be a bundle, and believes none of it. */

export const PROBLEMS = [
  ...['empty', 'too-big', 'not-json', 'not-canonical', 'not-an-envelope', 'signatures', 'payload-type'],
  ...['wrong-key', 'bad-signature', 'mixed-keys', 'expired-key', 'key-not-yet-valid', 'from-the-future'],
  ...['statement-type', 'subjects', 'not-a-statement', 'predicate-type'],
  ...['other-task', 'other-run', 'other-epoch', 'other-base', 'other-spec', 'other-nonce', 'other-result'],
  ...['chain', 'order', 'double', 'after-verdict', 'no-verdict', 'verdict-list', 'other-policy', 'other-verdict'],
  ...['missing-receipt', 'contradiction', 'not-verified-elsewhere', 'disagreement'],
] as const;
export type Problem = (typeof PROBLEMS)[number];

/** What is wrong with a line, or with all of it. */
export interface Wrong {
  problem: Problem;
  /** One sentence. */
  message: string;
}
export const wrong = (problem: Problem, message: string): Wrong => ({ problem, message });
export const isWrong = (value: object): value is Wrong => 'problem' in value;

/** A task travels through the history of its workflow, whose limit is 2 MB. */
const LINE_MAX = 4_000_000;
export const BUNDLE_MAX = 16_000_000;
const LINES_MAX = 64;

/** The lines of a bundle; the last line break may be missing. */
export function linesOf(text: string): string[] | Wrong {
  if (text.length === 0) return wrong('empty', 'there is nothing in it');
  if (text.length > BUNDLE_MAX) return wrong('too-big', `it is larger than ${BUNDLE_MAX / 1_000_000} MB`);
  const lines = text.replace(/\n$/, '').split('\n', LINES_MAX + 1);
  if (lines.length > LINES_MAX) return wrong('too-big', `it has more than ${LINES_MAX} lines`);
  if (lines.some(({ length }) => length > LINE_MAX))
    return wrong('too-big', `it has a line of more than ${LINE_MAX / 1_000_000} MB`);
  return lines;
}

const base64 = z.string().refine((text) => Buffer.from(text, 'base64').toString('base64') === text);
const envelopeShape = z.strictObject({
  payload: base64,
  payloadType: z.string(),
  signatures: z.array(z.strictObject({ keyid: z.string(), sig: base64 })),
});

/** An envelope with one signature, not checked yet. */
export function readEnvelope(line: string): Envelope | Wrong {
  const parsed = parseJson(line);
  if (isWrong(parsed)) return parsed;
  const { success, data: envelope } = envelopeShape.safeParse(parsed.value);
  if (!success) return wrong('not-an-envelope', 'it is no DSSE envelope');
  if (envelope.signatures.length !== 1)
    return wrong('signatures', `it has ${envelope.signatures.length} signatures instead of one`);
  if (envelope.payloadType !== PAYLOAD_TYPE) return wrong('payload-type', `its payload is not ${PAYLOAD_TYPE}`);
  return envelope;
}

const text = z.string().max(1_000);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const commit = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);
const subject = z.strictObject({ gitCommit: commit, gitTree: commit.optional(), sha256: hash });
const judgement = z.object({
  accepted: z.boolean(),
  reasons: z.array(z.string()),
  reason: z.string().nullable(),
  acceptance: z.boolean(),
  doneBy: z.array(z.enum(RECEIPT_KINDS)),
});
const fleetPart = z.object({
  ...{ task: text, runId: text, n: z.int().positive(), workflowRunId: text, base: commit, spec: hash, nonce: hash },
  at: z.iso.datetime(),
  prev: hash.nullable(),
  kind: z.enum(['run', ...RECEIPT_KINDS, 'verdict', 'approval']),
  receipt: z
    .object({
      ok: z.boolean(),
      summary: z.string(),
      evidence: z.record(z.string(), z.unknown()),
      shows: z.boolean().optional(),
      reason: text.optional(),
    })
    .optional(),
  verdict: judgement.optional(),
  approval: z.strictObject({ by: text, why: z.string(), what: z.string(), said: z.iso.datetime() }).optional(),
});
const statementShape = z.object({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.array(z.object({ name: text, digest: subject })).length(1),
  predicateType: text,
  predicate: z.looseObject({ x_fleet: fleetPart }),
});

/** A statement whose predicate is of the type that its kind has. */
export function readStatement(payload: Buffer): Statement | Wrong {
  const said = payload.toString('utf8');
  if (!Buffer.from(said).equals(payload)) return wrong('not-json', 'its payload is not UTF-8');
  const parsed = parseJson(said);
  if (isWrong(parsed)) return parsed;
  const { success, data, error } = statementShape.safeParse(parsed.value);
  const [where] = error?.issues[0]?.path ?? [];
  if (where === '_type') return wrong('statement-type', `it is no ${STATEMENT_TYPE}`);
  if (where === 'subject') return wrong('subjects', 'it does not have exactly one subject of ours');
  if (!success) return wrong('not-a-statement', 'it is no statement of ours');
  const { kind } = data.predicate.x_fleet;
  if (data.predicateType !== predicateTypeOf(kind))
    return wrong('predicate-type', `its predicate is not ${predicateTypeOf(kind)}, as that of ${kind} is`);
  return data as unknown as Statement;
}

const runShape = z.object({
  buildDefinition: z.object({
    externalParameters: z.object({ task: z.record(z.string(), z.unknown()) }),
    internalParameters: z.object({
      policy: z.record(z.string(), z.unknown()),
      required: z
        .looseObject({
          ...{ type: z.enum(TASK_TYPES), structured: z.boolean(), verify: z.boolean(), control: z.boolean() },
          ...{ heldOut: z.boolean(), artifacts: z.boolean(), review: z.boolean() },
        })
        .transform((required): Required => required),
      where: z.enum(['here', 'other']),
      coder: text,
      model: text.nullable(),
    }),
  }),
  runDetails: z.object({
    metadata: z.object({ startedOn: text, finishedOn: text }),
    byproducts: z.array(z.object({ name: text, digest: z.object({ sha256: text }) })),
  }),
});
export type RunPart = z.output<typeof runShape>;

/** What a run's statement says of the run. */
export function readRun({ predicate }: Statement): RunPart | Wrong {
  return runShape.safeParse(predicate).data ?? wrong('not-a-statement', 'it does not say what was run');
}

const verdictShape = z.object({
  policy: z.object({ digest: z.object({ sha256: hash }) }),
  inputAttestations: z.array(z.object({ digest: z.object({ sha256: hash }) })),
  verificationResult: z.enum(['PASSED', 'FAILED']),
  x_fleet: z.object({ verdict: judgement }),
});
export type VerdictPart = z.output<typeof verdictShape>;

export function readVerdict({ predicate }: Statement): VerdictPart | Wrong {
  return verdictShape.safeParse(predicate).data ?? wrong('not-a-statement', 'it does not say what was decided');
}

function parseJson(said: string): { value: unknown } | Wrong {
  const parsed = parseCanonical(said);
  if (parsed === 'not-json') return wrong('not-json', 'it is no JSON');
  if (parsed === 'not-canonical')
    return wrong(
      'not-canonical',
      'it is not written as a worker writes it: a key twice, other blanks or another order',
    );
  return parsed;
}
