import { NO_USAGE, type AgentEvent, type StoredEvent } from '../../src/domain/agent/event.ts';
import type { AgentOutcome } from '../../src/domain/run/outcome.ts';
import { mergePolicy, repoFile } from '../../src/domain/repository/repo-policy.ts';
import { taskInput, type TaskInput } from '../../src/domain/task/schema.ts';
import type { Change, Evidence } from '../../src/ports.ts';

/** Evidence of a run in which all went well: one edit, one command, one commit with one file. */

export interface Given {
  task?: Partial<TaskInput>;
  outcome?: Partial<AgentOutcome>;
  result?: Partial<Evidence['result']>;
  /** Paths of changed files, or the changes. */
  changes?: (string | Change)[];
  events?: AgentEvent[];
  rest?: Partial<Evidence>;
}

export const call = (id: string, name: string, input = '{}'): AgentEvent => ({ type: 'tool-call', id, name, input });
export const answer = (id: string, ok = true): AgentEvent => ({ type: 'tool-result', id, ok, output: '' });

const WORK: AgentEvent[] = [call('t1', 'Edit'), answer('t1'), call('t2', 'Bash', 'npm test'), answer('t2')];

export function evidenceOf({
  task = {},
  outcome = {},
  result = {},
  changes = ['src/a.ts'],
  events = WORK,
  rest = {},
}: Given = {}): Evidence {
  const parsed = taskInput.parse({ objective: 'Do it', repo: '/repo', ...task });
  const list = changes.map((change): Change =>
    typeof change === 'string' ? { path: change, kind: 'modified' } : change,
  );
  const stored: StoredEvent[] = events.map((event, offset) => ({ ...event, at: '2026-11-21T10:00:00.000Z', offset }));
  return {
    task: parsed,
    policy: mergePolicy(parsed, repoFile.parse({})),
    structured: true,
    outcome: {
      exitCode: 0,
      signal: null,
      stopped: null,
      leftover: 0,
      isolation: 'namespace',
      startedAt: '2026-11-21T10:00:00.000Z',
      endedAt: '2026-11-21T10:01:05.000Z',
      stdout: { bytes: 10, sha256: 'a' },
      stderr: { bytes: 0, sha256: 'b' },
      session: 's',
      model: 'm',
      ended: { ok: true, failure: null },
      claim: 'Done.',
      until: null,
      usage: NO_USAGE,
      ...outcome,
    },
    events: stored,
    before: [],
    reached: { lines: [], all: true },
    hooks: null,
    wire: null,
    result: {
      gitDir: '/nowhere.git',
      base: 'b'.repeat(40),
      commit: list.length > 0 ? 'c'.repeat(40) : 'b'.repeat(40),
      tree: 'd'.repeat(40),
      changes: list,
      commits: list.length > 0 ? [{ id: 'c'.repeat(40), subject: 'Mend it' }] : [],
      leftUncommitted: 0,
      odd: null,
      violations: [],
      twins: [],
      ...result,
    },
    outputsDir: '/nowhere/outputs',
    tree: '/nowhere/tree',
    checkout: null,
    elsewhere: { checkout: [], stores: [] },
    submodules: async () => ({ ok: true, submodules: [] }),
    space: () => Promise.reject(new Error('no trial expected')),
    ofBase: async (_key, make) => (await make()).value,
    ...{ found: [], passed: {}, patch: '/nowhere/result.patch', secretsFound: [] },
    askLinks: () => Promise.reject(new Error('no link expected')),
    askReviewer: () => Promise.reject(new Error('no review expected')),
    heldOutDir: '/nowhere/held-out',
    unseal: () => Promise.reject(new Error('no seal expected')),
    ...rest,
  };
}
