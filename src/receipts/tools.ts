import type { AgentEvent } from '../domain/event.ts';
import type { Finding } from '../domain/receipt.ts';
import type { Evidence, ReceiptCollector } from '../ports.ts';
import { clip, counted, named, sample } from './bounded.ts';
import { unbackedClaim } from './claims.ts';
import { agreement } from './hooks.ts';

const NAME_MAX = 40;
type Call = Extract<AgentEvent, { type: 'tool-call' }>;

// Names of claude's and codex's tools, and of the usual others, in lower case.
const SHELLS = new Set([
  'bash',
  'shell',
  'local_shell',
  'command_execution',
  'exec_command',
  'shell_command',
  'powershell',
]);
const EDITORS = new Set([
  'edit',
  'multiedit',
  'write',
  'notebookedit',
  'apply_patch',
  'file_change',
  'write_file',
  'create',
]);

/**
 * The tool calls in the event stream, matched by id to their results. The agent cannot write to that stream, but codex
 * leaves out calls that were refused. Only for tasks that must change files.
 */
export const tools: ReceiptCollector = {
  kind: 'tools',
  async collect(given) {
    const { task, structured, events, outcome } = given;
    if (!structured || task.type !== 'code') return undefined;
    const calls = events.filter((event) => event.type === 'tool-call');
    const results = new Map(events.filter((event) => event.type === 'tool-result').map((event) => [event.id, event]));
    const ids = new Set(calls.map(({ id }) => id));
    const open = calls.filter(({ id }) => !results.has(id));
    const failed = new Set(calls.filter(({ id }) => results.get(id)?.ok === false));
    const commands = calls.filter(isShell).map(({ input }) => input);
    const able = calls.filter((call) => isShell(call) || (isEditor(call) && !failed.has(call)));
    const byName = tally(calls);
    const claim = unbackedClaim(outcome.claim, commands);
    const hooks = agreement(given);
    const evidence = {
      calls: calls.length,
      results: results.size,
      failed: failed.size,
      byName: Object.fromEntries(Object.entries(byName).slice(0, 15)),
      commands: sample(commands),
      unanswered: sample(open.map(({ id }) => id)),
      unasked: sample([...results.keys()].filter((id) => !ids.has(id))),
      ...(hooks.notes.length > 0 ? { notes: hooks.notes } : {}),
      byHooks: hooks.evidence,
    };
    if (hooks.forged) return { ok: false, reason: 'fabricated', summary: hooks.forged, evidence };
    const found = verdict({ calls: calls.length, able: able.length, byName, claim, outcome, evidence });
    return { ...found, summary: [found.summary, ...hooks.notes].join('; ') };
  },
};

function verdict(found: {
  calls: number;
  able: number;
  byName: Record<string, number>;
  claim: string | undefined;
  outcome: Evidence['outcome'];
  evidence: Record<string, unknown>;
}): Finding {
  const { calls, able, byName, claim, evidence } = found;
  // An agent that broke off, or says that it could not do it, claims nothing.
  const lie = found.outcome.ended?.ok && found.outcome.blocked === undefined ? { reason: 'fabricated' as const } : {};
  const list = named(
    Object.entries(byName).map(([name, n]) => `${n} ${name}`),
    6,
  );
  if (claim) return { ok: false, reason: 'fabricated', summary: claim, evidence };
  if (calls === 0) return { ok: false, ...lie, summary: 'not a single tool was called', evidence };
  if (able === 0) return { ok: false, ...lie, summary: `no tool call could have changed a file: ${list}`, evidence };
  return { ok: true, summary: `${counted(calls, 'tool call')}: ${list}`, evidence };
}

const isShell = ({ name }: Call): boolean => SHELLS.has(name.toLowerCase());

/** Tools of an MCP server (`mcp__server__tool`, `server.tool`) may do anything. */
const isEditor = ({ name }: Call): boolean =>
  EDITORS.has(name.toLowerCase()) || name.startsWith('mcp__') || name.includes('.');

function tally(calls: readonly Call[]): Record<string, number> {
  const byName = new Map<string, number>();
  for (const { name } of calls) byName.set(clip(name, NAME_MAX), (byName.get(clip(name, NAME_MAX)) ?? 0) + 1);
  return Object.fromEntries([...byName].sort(([, a], [, b]) => b - a));
}
