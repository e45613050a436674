import { failpoint } from '../../adapters/failpoint.ts';
import { isDiskTrouble } from '../../adapters/disk/free-space.ts';
import { differences, lookElsewhere } from '../../adapters/git/capture/tamper-check.ts';
import { readJson, writeJson } from '../../adapters/disk/json-file.ts';
import { toMs } from '../../domain/values/duration.ts';
import { numberOf } from '../../domain/names.ts';
import { isOutside } from '../../domain/people/external-agent.ts';
import { judge, type Found, type ReceiptKind } from '../../domain/evidence/receipt.ts';
import type { RunRef, Verified } from '../../domain/view/task-view.ts';
import { fits } from '../../domain/values/wildcard.ts';
import type { Evidence } from '../../ports.ts';
import { readReached } from '../../adapters/proxy/reached.ts';
import { readWire } from '../../adapters/proxy/wire-file.ts';
import { agentsWord } from '../../receipts/claims/agents-word.ts';
import { withoutForged } from '../../receipts/claims/tool-calls.ts';
import { COLLECTORS } from '../../receipts/index.ts';
import { askReviewer } from './ask-reviewer.ts';
import { concludeAbandoned } from '../launch/outcome.ts';
import { requirePrepared, type Deps } from '../worker/context.ts';
import { readEvents } from '../output/event-follower.ts';
import { readHooks } from '../output/read-hooks.ts';
import { cancellable } from '../worker/heartbeat.ts';
import { broughtAlong, commandsRun, irreversibleOf } from './irreversible.ts';
import { keepResult } from '../save/keep-result.ts';
import { onSoundBase, openOrigin, placesOf } from '../prepare/origin.ts';
import { persist } from '../worker/persist.ts';
import { keepNotes, readResult } from './read-result.ts';
import { restoreResult } from './restore.ts';
import { sealRun } from './sign-receipts.ts';
import { spacesFor } from './trial-space.ts';
import { excuseOf } from '../worker/excuse.ts';

/** Gathers the receipts of a run whose process tree is dead, and gives the verdict; a second call repeats the first's. */
export async function verifyReceipts(deps: Deps, ref: RunRef): Promise<Verified> {
  const known = await readJson<Verified>(deps.home.run(ref.taskId, ref.runId).verified);
  if (known) return known;
  return cancellable(
    () => ({ runId: ref.runId, state: 'verifying' }),
    (signal) =>
      deps.registry.using(ref, async () => {
        const { task, base, baseDir } = requirePrepared(deps, ref).prepared;
        const open = () => openOrigin(deps, { task, base, signal });
        const verified = await onSoundBase(baseDir, { open, work: () => verify(deps, ref, signal) });
        if ('ok' in verified) throw new Error(verified.failure.message);
        return verified;
      }),
  );
}

async function verify(deps: Deps, ref: RunRef, signal: AbortSignal): Promise<Verified> {
  signal.throwIfAborted();
  const { prepared, structured, n, coder } = requirePrepared(deps, ref);
  const { task, policy, base } = prepared;
  const files = deps.home.run(ref.taskId, ref.runId);
  const kept = deps.home.task(ref.taskId);
  const keptRun = kept.runOf(n);
  const outcome = await concludeAbandoned(deps, ref);
  if (!outcome) throw new Error(`run ${ref.runId} has no outcome`);

  // 1. What the agent left, read without trusting any of it.
  const left = await readResult(deps, ref, { prepared, outcome, signal });
  const result = await persist(deps, () => restoreResult(deps, ref, { policy, result: left }), signal);
  failpoint('verify.captured');
  const secretsFound = await persist(deps, () => keepNotes(deps, ref, { result, n }), signal);

  // 2. One receipt a kind; no command is run for an agent that did not end well.
  const evidence: Evidence = {
    ...{ task, policy, structured, outcome, result },
    ...(isOutside(coder) ? {} : { setUp: true }),
    events: await readEvents(keptRun.events),
    before: prepared.resumed?.runId ? await earlier(kept.runOf(numberOf(prepared.resumed.runId))) : [],
    hooks: await readHooks(keptRun.logs),
    wire: readWire(keptRun.wire),
    reached: readReached(files.reached),
    ...{ outputsDir: keptRun.outputs, tree: files.tree, checkout: prepared.checkout },
    ...{ heldOutDir: deps.home.heldOut, unseal: deps.keys.openSealed },
    ...{ found: [], passed: {}, patch: keptRun.patch, secretsFound },
    elsewhere: prepared.elsewhere
      ? differences(prepared.elsewhere, lookElsewhere(placesOf(deps, prepared)))
      : { checkout: [], stores: [] },
    askLinks: async (links) => {
      const { askLinks } = await import('../../adapters/artifacts/links.ts');
      const mayAsk = (host: string) => deps.config.links.private.some((pattern) => fits(pattern, host));
      return askLinks(links, { mayAsk, signal });
    },
    askReviewer: (prompt) => {
      const { gitDir, commit } = result;
      return askReviewer(deps, ref, {
        prepared,
        prompt,
        signal,
        logFile: keptRun.reviewLog,
        files: { gitDir, commit },
      });
    },
    ...spacesFor(deps, ref, { dir: files.trial, log: keptRun.trialLog, prepared, signal }),
  };
  const findings = deps.secrets.redaction.deep(await persist(deps, () => collect(evidence), signal));
  const required = {
    ...{ type: task.type, structured, verify: policy.verify.length > 0, artifacts: task.artifacts.length > 0 },
    ...{ control: policy.checks.control, heldOut: policy.checks.heldOut.length > 0 },
    review: policy.review !== null,
  };
  const judged = { required, findings, verdict: judge(required, findings) };
  signal.throwIfAborted();
  failpoint('verify.collected');
  const { verdict, receipts } = await persist(deps, () => sealRun(deps, ref, { evidence, ...judged }), signal);
  failpoint('verify.receipts-written');

  // 3. What was rejected is kept for a person: nothing is lost by a verdict.
  // Nor may a person's word deliver what could lead out of the tree.
  const changed = result.commit !== base && result.violations.length === 0;
  if (!verdict.accepted && changed)
    await persist(deps, () => keepResult(deps, ref, { prepared, commit: result.commit }), signal);
  failpoint('verify.rejected-kept');
  const elsewhere = verdict.accepted && policy.checks.where === 'other' ? { elsewhere: true as const } : {};
  const paths = result.changes.map(({ path }) => path);
  const brought = verdict.accepted && changed ? await broughtAlong(deps, { task, base, signal }) : undefined;
  const ran = { commands: commandsRun(evidence.events), own: [files.work, files.tmp] };
  const irreversible = verdict.accepted ? irreversibleOf(deps.config, { task, paths, brought, ran }) : undefined;
  const failure = verdict.accepted ? undefined : await excuseOf(deps, ref, { outcome, verdict });
  const unshown = verdict.accepted && verdict.doneBy.length === 0;
  const verified: Verified = {
    ...(failure ? { failure } : {}),
    ...{ verdict, receipts, commit: changed ? result.commit : null, ...elsewhere },
    ...(unshown ? { word: agentsWord(evidence, findings) } : {}),
    ...(irreversible === undefined ? {} : { irreversible, approveWithinMs: toMs(deps.config.irreversible.timeout) }),
  };
  await persist(deps, () => writeJson(files.verified, verified), signal);
  failpoint('verify.verdict-written');
  return verified;
}

const earlier = async ({ events, wire }: { events: string; wire: string }) =>
  withoutForged(await readEvents(events), readWire(wire));

/** They take time, and tell nothing more about what is rejected anyway. */
const MORE_TRIALS: ReadonlySet<ReceiptKind> = new Set(['control', 'held-out', 'challenge', 'review']);

async function collect(evidence: Evidence): Promise<Found[]> {
  const findings: Found[] = [];
  for (const { kind, collect: gather } of COLLECTORS) {
    const refused = findings.filter(({ ok }) => !ok);
    if (kind === 'acceptance' && refused.some((earlier) => earlier.kind === 'exit')) continue;
    if (MORE_TRIALS.has(kind) && refused.length > 0) continue;
    const finding = await gather({ ...evidence, found: findings }).catch((error: unknown) => {
      // A run that is rejected anyway waits for no room.
      if (!isDiskTrouble(error) || findings.every(({ ok }) => ok)) throw error;
      return { ok: false, summary: 'was not gathered, as the disk is full', evidence: {} };
    });
    if (finding) findings.push({ kind, ...finding });
  }
  return findings;
}
