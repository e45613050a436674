import { mkdir, writeFile } from 'node:fs/promises';
import { failpoint } from '../adapters/failpoint.ts';
import { runContained } from '../adapters/contained.ts';
import { removeTree } from '../adapters/remove-tree.ts';
import { copyNote } from '../adapters/notes.ts';
import { writePatch } from '../adapters/git/patch.ts';
import { captureResult } from '../adapters/git/result.ts';
import { readJson, writeJson } from '../adapters/json-file.ts';
import { judge, type Finding, type ReceiptKind } from '../domain/receipt.ts';
import type { AgentOutcome, RunRef, Verified } from '../domain/run.ts';
import type { Evidence } from '../ports.ts';
import { COLLECTORS } from '../receipts/index.ts';
import { sealReceipts } from '../receipts/seal.ts';
import { requirePrepared, type Deps } from './context.ts';
import { environment } from './environment.ts';
import { readEvents } from './follow.ts';
import { cancellable } from './heartbeat.ts';
import { keepResult } from './keep-result.ts';

const PATCH_MAX = 4 * 1024 * 1024;

/** Gathers the receipts of a run whose process tree is dead, and gives the verdict; a second call repeats the first's. */
export async function verifyReceipts(deps: Deps, ref: RunRef): Promise<Verified> {
  const known = await readJson<Verified>(deps.home.run(ref.taskId, ref.runId).verified);
  if (known) return known;
  return cancellable(
    () => ({ runId: ref.runId, state: 'verifying' }),
    (signal) => deps.registry.using(ref, () => verify(deps, ref, signal)),
  );
}

async function verify(deps: Deps, ref: RunRef, signal: AbortSignal): Promise<Verified> {
  signal.throwIfAborted();
  const { prepared, structured, n } = requirePrepared(deps, ref);
  const { task, policy, base, baseDir } = prepared;
  const files = deps.home.run(ref.taskId, ref.runId);
  const kept = deps.home.task(ref.taskId);
  const keptRun = kept.runOf(n);
  const outcome = await readJson<AgentOutcome>(files.outcome);
  if (!outcome) throw new Error(`run ${ref.runId} has no outcome`);

  // 1. What the agent left, read without trusting any of it.
  const result = await captureResult({
    ...{ tree: files.tree, resultDir: files.result, baseDir, base, taskId: ref.taskId },
    ...{ identity: deps.config.git, preexisting: prepared.preexisting },
  });
  failpoint('verify.captured');
  await copyNote(files.notes, kept.plan);
  await copyNote(files.notes, kept.knowledge);
  await writePatch({ gitDir: files.result, base, commit: result.commit, file: keptRun.patch, maxBytes: PATCH_MAX });

  // 2. One receipt a kind; the acceptance command is not run for an agent that did not end well.
  const acceptance = { home: `${files.dir}/acceptance-home`, tmp: `${files.dir}/acceptance-tmp` };
  await removeTree(files.acceptance);
  await Promise.all([files.acceptance, acceptance.home, acceptance.tmp].map((dir) => mkdir(dir, { recursive: true })));
  const evidence: Evidence = {
    ...{ task, policy, structured, outcome, result },
    events: await readEvents(keptRun.events),
    ...{ acceptanceDir: files.acceptance, acceptanceLog: keptRun.acceptanceLog, outputsDir: keptRun.outputs },
    ...{ tree: files.tree, checkout: prepared.checkout },
    run: async (command) => {
      const result = await runContained(command, {
        isolation: deps.isolation,
        home: deps.home.root,
        hide: deps.otherHomes(),
        show: [acceptance.home, acceptance.tmp, files.acceptance].map((path) => ({ path })),
        readOnly: prepared.sealed,
        signal,
        env: environment(deps.env, [], {
          ...{
            HOME: acceptance.home,
            TMPDIR: acceptance.tmp,
            PWD: command.cwd,
            CI: '1',
            FLEET_RUN: `${ref.runId}-verify`,
          },
        }),
      });
      // A command that was ended with the worker says nothing about the work.
      signal.throwIfAborted();
      return result;
    },
  };
  const receipts = sealReceipts(await collect(evidence));
  const verdict = judge(
    { type: task.type, structured, verify: policy.verify.length > 0, artifacts: task.artifacts.length > 0 },
    receipts,
  );
  signal.throwIfAborted();
  failpoint('verify.collected');
  await writeFile(keptRun.receipts, receipts.map((receipt) => `${JSON.stringify(receipt)}\n`).join(''));

  failpoint('verify.receipts-written');

  // 3. What was rejected is kept for a person: nothing is lost by a verdict.
  // Nor may a person's word deliver what could lead out of the tree.
  const changed = result.commit !== base && result.violations.length === 0;
  if (!verdict.accepted && changed) await keepResult(deps, ref, { prepared, commit: result.commit });
  failpoint('verify.rejected-kept');
  const verified = { verdict, receipts, commit: changed ? result.commit : null };
  await writeJson(files.verified, verified);
  failpoint('verify.verdict-written');
  return verified;
}

type Found = Finding & { kind: ReceiptKind };

async function collect(evidence: Evidence): Promise<Found[]> {
  const findings: Found[] = [];
  for (const { kind, collect: gather } of COLLECTORS) {
    if (kind === 'acceptance' && findings.some((earlier) => earlier.kind === 'exit' && !earlier.ok)) continue;
    const finding = await gather(evidence);
    if (finding) findings.push({ kind, ...finding });
  }
  return findings;
}
