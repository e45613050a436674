import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createJsonSync, readJson, writeText } from '../../adapters/disk/json-file.ts';
import type { Found, Judgement, Required } from '../../domain/evidence/receipt.ts';
import { numberOf } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Evidence } from '../../ports.ts';
import { runContext } from '../../receipts/bundle/context.ts';
import { sealApproval, sealBundle, type Sealed } from '../../receipts/bundle/seal.ts';
import type { ApprovalSaid } from '../../domain/people/waiting.ts';
import { requireRun, type Deps } from '../worker/context.ts';

/** What a run is sealed with: kept, so that a second sealing of the same findings gives the same bundle. */
interface Seal {
  nonce: string;
  /** ISO */
  at: string;
}

/** Signs what was found of a run and what follows from it, and keeps the bundle with the task. */
export async function sealRun(
  deps: Deps,
  ref: RunRef,
  given: { evidence: Evidence; required: Required; findings: readonly Found[]; verdict: Judgement },
): Promise<Sealed> {
  const { evidence, required, findings, verdict } = given;
  const record = requireRun(deps, ref);
  const { name, machine, version } = deps.worker;
  const own = { required, worker: { name, machine, version }, ...(await sealOf(deps, ref)) };
  const context = runContext(record, evidence, own);
  const sealed = sealBundle({ findings, verdict, context, signer: deps.keys.signer });
  await writeText(deps.home.task(ref.taskId).runOf(record.n).receipts, sealed.text);
  return sealed;
}

/** Who said yes to the result, and when, stands with its receipts from before it is delivered. */
export async function signApproval(deps: Deps, ref: RunRef, approval: ApprovalSaid): Promise<void> {
  const path = deps.home.task(ref.taskId).runOf(numberOf(ref.runId)).receipts;
  const previous = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (previous === undefined) return;
  const { name, machine, version } = deps.worker;
  const own = { worker: { name, machine, version }, at: new Date().toISOString(), signer: deps.keys.signer };
  const text = sealApproval(previous, { approval, ...own });
  if (text !== previous) await writeText(path, text);
}

async function sealOf({ home }: Deps, ref: RunRef): Promise<Seal> {
  const { seal } = home.run(ref.taskId, ref.runId);
  createJsonSync(seal, { nonce: randomBytes(32).toString('hex'), at: new Date().toISOString() });
  const kept = await readJson<Seal>(seal);
  if (!kept) throw new Error(`${seal} is damaged`);
  return kept;
}
