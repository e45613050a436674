import { generateKeyPairSync, sign } from 'node:crypto';
import { publicPart, signerOf, type Signer } from '../../src/adapters/secrets/signer.ts';
import { judge, type Found, type Required } from '../../src/domain/evidence/receipt.ts';
import { canonical } from '../../src/receipts/canonical.ts';
import { runContext } from '../../src/receipts/bundle/context.ts';
import { PAYLOAD_TYPE, pae, type Envelope } from '../../src/receipts/bundle/dsse.ts';
import { contextOf, sealBundle, type Sealed } from '../../src/receipts/bundle/seal.ts';
import type { SealContext, Statement } from '../../src/receipts/bundle/statement.ts';
import type { TrustedKey } from '../../src/receipts/bundle/trusted-keys.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { evidenceOf } from '../receipts/evidence.ts';

/** Bundles as workers seal them, and what a forger does to them. */

export const AT = '2026-11-21T12:00:00.000Z';
export const NOW = Date.parse('2026-11-22T12:00:00.000Z');

export interface TestSigner extends Signer {
  name: string;
  trusted: TrustedKey;
  /** A signature over any bytes, for envelopes of another type. */
  over(type: string, payload: string): string;
}

export function newSigner(name: string, window: Partial<TrustedKey> = {}): TestSigner {
  const { privateKey } = generateKeyPairSync('ed25519');
  const part = publicPart(privateKey);
  return {
    ...signerOf(privateKey),
    name,
    trusted: { ...part, worker: name, machine: `${name}-machine`, notBefore: null, notAfter: null, ...window },
    over: (type, payload) => sign(null, pae(type, Buffer.from(payload)), privateKey).toString('base64'),
  };
}

const found = (kind: Found['kind'], ok = true): Found => ({
  ...{
    kind,
    ok,
    summary: ok ? 'as it should be' : 'not as it should be',
    evidence: { n: 1, nested: { b: [2], a: 'ü' } },
  },
  ...(ok && (kind === 'git' || kind === 'acceptance') ? { shows: true } : {}),
});
export const FINDINGS: readonly Found[] = (
  ['exit', 'result', 'tools', 'git', 'scope', 'acceptance', 'control', 'artifacts'] as const
).map((kind) => found(kind));

export const REQUIRED: Required = {
  ...{ type: 'code', structured: true, verify: true, control: true, heldOut: false, artifacts: true, review: false },
};

export interface Given {
  signer: Signer;
  run?: Partial<SealContext>;
  task?: Partial<TaskInput>;
  findings?: readonly Found[];
  /** This one has not passed. */
  failed?: Found['kind'];
}

export function contextFor({ run = {}, task = {} }: Omit<Given, 'signer'>): SealContext {
  const evidence = evidenceOf({ task: { verify: ['npm test'], artifacts: ['report.md'], ...task } });
  const record = { taskId: 't1', runId: '2-abcd', n: 2, workflowRunId: 'w-1', coder: 'claude' };
  const worker = { name: 'ada', machine: 'm', version: '0.1.0' };
  return { ...runContext(record, evidence, { required: REQUIRED, worker, nonce: 'a'.repeat(64), at: AT }), ...run };
}

export function seal({ signer, findings = FINDINGS, failed, ...given }: Given): Sealed {
  const all = findings.map((each) => (each.kind === failed ? found(each.kind, false) : each));
  const context = contextFor(given);
  return sealBundle({ findings: all, verdict: judge(context.required, all), context, signer });
}

/** A second worker's word on a bundle. */
export function sealElsewhere(
  previous: string,
  { signer, ok = true, findings }: { signer: Signer; ok?: boolean; findings?: Found[] },
): Sealed {
  const context = contextOf(previous, { worker: { name: 'eve', machine: 'e', version: '0.1.0' }, at: AT });
  const verdict = {
    accepted: ok,
    reasons: ok ? [] : ['acceptance: not as it should be'],
    reason: ok ? null : ('receipts-rejected' as const),
    acceptance: ok,
    doneBy: ok ? ['acceptance' as const] : [],
  };
  return sealBundle({ findings: findings ?? seenElsewhere(ok), verdict, context, signer, previous });
}

/** What a second worker gathers of `FINDINGS`. */
export const seenElsewhere = (ok = true, digests = { first: DECISION, second: DECISION }): Found[] => [
  found('acceptance', ok),
  found('control', ok),
  { ...found('replay', ok), evidence: digests },
];
export const DECISION = 'd'.repeat(64);

export const linesOf = (text: string): string[] => text.trimEnd().split('\n');
export const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

export const envelopeOf = (line: string): Envelope => JSON.parse(line) as Envelope;
export const payloadOf = (line: string): string => Buffer.from(envelopeOf(line).payload, 'base64').toString();

/** An envelope around any payload, rightly signed. */
export function signed(payload: string, signer: TestSigner, type: string = PAYLOAD_TYPE): string {
  const signatures = [{ keyid: signer.id, sig: signer.over(type, payload) }];
  return canonical({ payload: Buffer.from(payload).toString('base64'), payloadType: type, signatures });
}

/** The line with its statement changed, and signed again by a worker that lies. */
export function resigned(line: string, signer: TestSigner, change: (statement: Statement) => void): string {
  const statement = JSON.parse(payloadOf(line)) as Statement;
  change(statement);
  return signed(canonical(statement), signer);
}
