/** Boundaries between two durable steps, by the process that passes them. */
export const FAILPOINTS = {
  worker: [
    'claim.recorded',
    'worktree.repository-made',
    'worktree.prepared',
    'launch.prompt-written',
    'launch.started',
    'launch.ended',
    'launch.outcome-written',
    'save.kept',
    'verify.captured',
    'verify.collected',
    'verify.receipts-written',
    'verify.rejected-kept',
    'verify.verdict-written',
    'deliver.begun',
    'deliver.objects-copied',
    'deliver.branch-made',
    'release.ended',
    'release.removed',
  ],
  /** A result that waits for a person's yes: kept without its run, and delivered from where it is kept. */
  kept: ['kept.stored', 'kept.delivered'],
  /** Work in progress that other machines may go on from. */
  shared: ['share.pushed'],
  /** What an agent outside the fleet has handed in. */
  outside: ['outside.brought', 'outside.outcome-written'],
  /** What a worker merges for the merge queue. */
  merge: ['merge.made', 'merge.checked', 'merge.pushed'],
  keeper: [
    'keeper.launch-recorded',
    'keeper.tree-started',
    'keeper.identity-recorded',
    'keeper.agent-started',
    'keeper.agent-ended',
    'keeper.tree-dead',
    'keeper.exit-recorded',
  ],
  /** A channel that people talk to the fleet in. */
  channel: ['channel.heard', 'channel.recorded', 'channel.begun', 'channel.posted'],
  sync: ['sync.committed', 'sync.claim-pushed', 'sync.enqueued', 'sync.result-pushed'],
} as const;
export type Failpoint = (typeof FAILPOINTS)[keyof typeof FAILPOINTS][number];

/**
 * Kills this process, as by kill -9, where `FLEET_FAILPOINT` names this point: `deliver.begun`, or `deliver.begun:2` for
 * the second time that it is passed. Tests prove by it that a crash between any two steps loses and doubles nothing.
 */
export function failpoint(point: Failpoint): void {
  const [name, nth = '1'] = (process.env['FLEET_FAILPOINT'] ?? '').split(':');
  if (name !== point) return;
  passed += 1;
  if (passed === Number(nth)) process.kill(process.pid, 'SIGKILL');
}
let passed = 0;
