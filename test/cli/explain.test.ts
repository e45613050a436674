import { expect, test } from '@jest/globals';
import { sentenceOf, type Waiting } from '../../src/client/explain/explain.ts';
import type { FleetOrder, FleetWorker, TaskReport } from '../../src/client.ts';
import { NO_USAGE } from '../../src/domain/agent/event.ts';
import type { RunView } from '../../src/domain/view/task-view.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');

const run: RunView = {
  ...{ runId: '1-a', n: 1, worker: 'ada', machine: 'm', hostQueue: 'host/ada-1', coder: 'claude', model: null },
  ...{ startedAt: '2026-01-01T00:08:00Z', endedAt: null, reason: null, message: null, counts: false },
  ...{ exitCode: null, commit: null, usage: NO_USAGE, receipts: [] },
  ...{ saved: null, late: null, resumedFrom: null },
};

const report = (over: Partial<TaskReport>): TaskReport => ({
  ...{
    id: 'x',
    title: 'X',
    type: 'code',
    state: 'queued',
    reason: null,
    message: null,
    objective: 'X',
    repo: '/r',
    base: null,
  },
  ...{ queue: 'fleet', claimQueue: 'fleet', priority: 50, coder: null, model: null, worker: null },
  ...{
    attempts: { used: 0, max: 3 },
    runs: [],
    receipts: [],
    verdict: null,
    branch: null,
    commit: null,
    usage: NO_USAGE,
  },
  ...{
    labels: [],
    createdAt: '2026-01-01T00:00:00Z',
    endedAt: null,
    retryAt: null,
    decision: null,
    live: null,
    partial: false,
  },
  ...over,
});

const tally = { since: '', takenIn: 0, done: 0, failed: 0, cancelled: 0, parked: 0, handedOver: 0, kept: 0, live: 0 };
const worker = (name: string, used: number, over: { coders?: string[]; holds?: string[] } = {}): FleetWorker => {
  const facts = {
    ...{ name, machine: 'm', hostQueue: `host/${name}-1`, queues: ['fleet'], since: '', version: '', pid: 1 },
    coders: (over.coders ?? ['claude']).map((coder) => ({ name: coder, version: '1' })),
  };
  return {
    ...{ ...facts, slots: 2, lease: { heartbeatMs: 12_000, graceMs: 40_000 }, changedAt: '', debts: [], report: null },
    ...{ attachedAt: '', heardAt: '2026-01-01T00:09:59Z' },
    state: 'attached',
    view: {
      ...{ ...facts, slots: { total: 2, used }, runs: [], holds: over.holds ?? [], leaving: false },
      ...{ order: null, stopped: null, freeBytes: null, tally, at: '' },
    },
  };
};
/** Its credentials of claude rest; it has a slot. */
const resting = (name: string): FleetWorker => {
  const free = worker(name, 0, { coders: ['claude', 'codex'] });
  const closed = [{ coder: 'claude', why: 'credential a rests until 2026-01-01T01:00:00Z (limit)' }];
  return { ...free, view: { ...free.view!, closed, defaultCoder: 'claude' } };
};
const silent: FleetWorker = { ...worker('bob', 0), state: 'silent' };
const lost: FleetWorker = { ...worker('eve', 0), state: 'lost', view: null };
const unheard = (state: FleetWorker['state'], heardAt: string | null): FleetWorker => ({
  ...worker('ada', 1),
  ...{ state, heardAt, view: null },
});
const order: FleetOrder = { mode: 'pause', by: 'ada@desk', at: '2026-01-01T00:00:00Z', why: 'disk check' };

const accepted = { accepted: true, reasons: [], reason: null, acceptance: true, doneBy: ['git' as const], digest: '' };
const receipt = { kind: 'exit', ok: true, summary: '', evidence: {}, digest: '' } as const;

const SENTENCES: [Partial<TaskReport>, Partial<Waiting>, string][] = [
  [{}, {}, 'waiting: no attached worker claims from queue fleet; start one with fleet worker'],
  [
    {},
    { workers: [silent] },
    'waiting: no attached worker claims from queue fleet (bob does not answer); start one with fleet worker',
  ],
  [
    {},
    { workers: [silent, lost] },
    'waiting: no attached worker claims from queue fleet (bob, eve do not answer); start one with fleet worker',
  ],
  [
    {},
    { workers: [worker('ada', 0)], order },
    'waiting: the fleet is paused by ada@desk at 2026-01-01T00:00:00Z (disk check): fleet resume takes new work again',
  ],
  [
    {},
    { workers: [worker('ada', 0, { holds: ['ada is paused'] }), worker('eve', 0, { coders: [], holds: ['no disk'] })] },
    'waiting: worker ada takes no new work: ada is paused; worker eve takes no new work: no disk',
  ],
  [
    {},
    { workers: [worker('ada', 0, { holds: ['no disk'] }), worker('eve', 2)], queued: 1 },
    'all 2 slots of eve are taken',
  ],
  [
    {},
    { workers: [resting('ada')] },
    'waiting: worker ada takes none for claude: credential a rests until 2026-01-01T01:00:00Z (limit)',
  ],
  [
    { claimQueue: 'fleet/codex', coder: 'codex' },
    { workers: [resting('ada')] },
    'worker ada has a free slot and should claim it within seconds',
  ],
  [
    {},
    { workers: [resting('ada'), worker('eve', 0)] },
    'worker eve has a free slot and should claim it within seconds',
  ],
  [
    { claimQueue: 'fleet@m2/codex', coder: 'codex' },
    { workers: [worker('ada', 0)] },
    'waiting: no attached worker claims from queue fleet@m2/codex (it needs machine m2, where /r is and coder codex); start one with fleet worker',
  ],
  [
    { claimQueue: 'fleet@m/claude' },
    { workers: [worker('ada', 1)] },
    'worker ada has a free slot and should claim it within seconds',
  ],
  [
    {},
    { workers: [worker('ada', 2), worker('eve', 2)], queued: 4 },
    'all 4 slots of ada, eve are taken, and about 3 others wait in queue fleet',
  ],
  [{}, { workers: [worker('ada', 2)], queued: 1 }, 'all 2 slots of ada are taken'],
  [
    { retryAt: '2026-01-01T00:10:30Z', reason: 'receipts-rejected', message: 'git: no change' },
    { workers: [worker('ada', 0)] },
    'it waits 30s, until 2026-01-01T00:10:30Z, for its next run, as the last one ended with receipts-rejected: git: no change',
  ],
  [
    { state: 'setting-up', worker: 'ada', runs: [run] },
    {},
    "worker ada makes its worktree and runs the repository's setup commands, for 2m",
  ],
  [{ state: 'running', worker: 'ada', runs: [run] }, {}, 'the agent runs on worker ada, for 2m'],
  [
    {
      state: 'running',
      worker: 'ada',
      runs: [run],
      live: { runId: run.runId, state: 'running', doing: 'the model is slow: no byte for 1m 30s' },
    },
    {},
    'the agent runs on worker ada, for 2m; the model is slow: no byte for 1m 30s',
  ],
  [
    {
      state: 'running',
      worker: 'ada',
      runs: [run],
      live: { runId: '1-a', state: 'running', lastEvent: 'Bash ls', lastEventAt: '2026-01-01T00:09:56Z' },
    },
    {},
    'the agent runs on worker ada, for 2m: last event 4s ago: Bash ls',
  ],
  [
    { state: 'running', worker: 'ada', runs: [run], partial: true, message: 'no worker answers' },
    {},
    'the agent runs on worker ada, for 2m (no worker answers)',
  ],
  [
    { state: 'running', worker: 'ada', runs: [run] },
    { workers: [worker('ada', 1)] },
    'the agent runs on worker ada, for 2m',
  ],
  [
    { state: 'running', worker: 'ada', runs: [run] },
    { workers: [unheard('silent', '2026-01-01T00:09:40Z'), worker('eve', 0)] },
    'unknown: worker ada gave its last sign 20s ago, at 2026-01-01T00:09:40Z, in state running; without contact it ends its agent itself, and the run is given up and the task waits for a worker again, unless it is back within 32s',
  ],
  [
    { state: 'verifying', worker: 'ada', runs: [run] },
    { workers: [unheard('lost', '2026-01-01T00:08:00Z')] },
    'unknown: worker ada gave its last sign 2m ago, at 2026-01-01T00:08:00Z, in state verifying; without contact it ends its agent itself, and nothing follows until a worker is attached: type fleet worker',
  ],
  [
    { state: 'running', worker: 'ada', queue: 'nightly', partial: true, message: 'no worker answers' },
    { workers: [{ ...unheard('detached', null), changedAt: '2026-01-01T00:09:55Z' }] },
    'unknown: worker ada was stopped 5s ago, at 2026-01-01T00:09:55Z, in state running; without contact it ends its agent itself, and nothing follows until a worker is attached: type fleet worker --queue nightly (no worker answers)',
  ],
  [{ state: 'verifying', worker: 'ada' }, {}, 'the agent has ended, and worker ada gathers the receipts'],
  [{ state: 'delivering', worker: 'ada' }, {}, 'the result was accepted, and worker ada delivers it'],
  [
    { state: 'parked', reason: 'auth', message: null },
    {},
    "it is parked (auth: the coder's login or key was refused): type fleet task x retry or give-up",
  ],
  [
    { state: 'parked', reason: 'auth', message: null, runs: [{ ...run, credential: 'team' }] },
    {},
    "it is parked (auth: the coder's login or key was refused): log in to claude again, or change its key, on worker ada (machine m); then type fleet credentials ok team; type fleet task x retry or give-up",
  ],
  [
    { state: 'parked', reason: 'fabricated', message: 'tools: none', runs: [{ ...run, commit: 'c' }] },
    {},
    "it is parked (fabricated: tools: none): type fleet task x retry, accept --why '…' or give-up",
  ],
  [
    { state: 'done', verdict: accepted, receipts: [receipt], branch: 'fleet/x', commit: '0123456789abcdef' },
    {},
    'it is done: all 1 receipts are ok, and the result is on branch fleet/x at 0123456789',
  ],
  [
    { state: 'done', verdict: { ...accepted, acceptance: false }, receipts: [receipt, receipt] },
    {},
    'it is done: all 2 receipts are ok (no acceptance command)',
  ],
  [
    { state: 'done', decision: { action: 'accept', why: 'by hand' }, branch: 'fleet/x' },
    {},
    'it is done: a person accepted it (by hand), and the result is on branch fleet/x',
  ],
  [{ state: 'failed', reason: 'invalid-task', message: 'no objective' }, {}, 'it failed: invalid-task: no objective'],
  [{ state: 'cancelled' }, {}, 'it was cancelled'],
  [{ state: 'cancelled', message: 'terminated' }, {}, 'it was cancelled (terminated)'],
];

test.each(SENTENCES)('%j with %j', (over, waiting, sentence) => {
  expect(sentenceOf(report(over), { workers: [], order: null, queued: 0, ...waiting }, NOW)).toBe(sentence);
});
