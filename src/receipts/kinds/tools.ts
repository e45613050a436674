import { basename, dirname } from 'node:path';
import { hasName, nameBehind } from '../../adapters/program/find-name.ts';
import { doneByOf, needsPerson } from '../../domain/evidence/done-by.ts';
import type { Finding } from '../../domain/evidence/receipt.ts';
import type { Evidence, ReceiptCollector } from '../../ports.ts';
import { clip, counted, named, sample } from '../bounded.ts';
import { inventedFiles } from '../claims/claimed-files.ts';
import { claimsWork } from '../claims/claimed-work.ts';
import { unbackedClaim } from '../claims/claims.ts';
import { callsThatCould } from '../claims/could-have-done.ts';
import { agreement } from './hooks.ts';
import { isAble, isCut, toolCalls, type ToolCall } from '../claims/shell-calls.ts';
import { backing } from '../claims/tool-calls.ts';

const NAME_MAX = 40;

/**
 * The tool calls in the event stream, matched by id to their results and held against what the model was seen to ask for, what
 * the coder's hooks saw, what the agent says that it did, and what was changed. What the run before it had called counts for the
 * work that it went on from. Where no files have to be changed, and the task names nothing that would show it, a call that could
 * have done the work, and that the run's model proxy saw, shows that it was done.
 */
export const tools: ReceiptCollector = {
  kind: 'tools',
  async collect(given) {
    const { task, policy, structured, events } = given;
    if (!structured) return undefined;
    const calls = toolCalls(events);
    const answered = events.flatMap((event) => (event.type === 'tool-result' ? [event.id] : []));
    const ids = new Set(calls.map(({ id }) => id));
    const byName = tally(calls);
    const hooks = agreement(given);
    const wire = backing(given);
    const all = [...toolCalls(given.before), ...calls];
    const could = ableCalls(given);
    // What the task names has to show it: a call that could have done it takes nobody's place.
    const counts = could.length > 0 && needsPerson(doneByOf(task, policy));
    const changed = task.type === 'code' ? (given.result.own ?? given.result).changes : [];
    const stray = await unexplained(
      all,
      changed.map(({ path }) => path),
    );
    const evidence = {
      calls: calls.length,
      results: new Set(answered).size,
      failed: calls.filter(({ ok }) => ok === false).length,
      byName: Object.fromEntries(Object.entries(byName).slice(0, 15)),
      commands: sample(calls.flatMap(({ shell, input }) => (shell ? [input] : []))),
      unanswered: sample(calls.flatMap(({ ok, id }) => (ok === undefined ? [id] : []))),
      unasked: sample(answered.filter((id) => !ids.has(id))),
      ...(stray.length > 0 ? { unexplained: sample(stray) } : {}),
      ...(task.type === 'code' ? {} : { could: sample(could) }),
      byHooks: hooks.evidence,
      byWire: wire.evidence,
    };
    const made = named(
      Object.entries(byName).map(([name, n]) => `${n} ${name}`),
      6,
    );
    const forged = wire.forged ?? hooks.forged;
    const wrong =
      task.type === 'code'
        ? await lie(given, all, { forged, made, stray })
        : forged && { reason: 'fabricated' as const, summary: forged };
    if (wrong) return { ok: false, ...wrong, evidence };
    const notes = [
      ...(stray.length > 0 ? [`${counted(stray.length, 'path')} that no call names`] : []),
      ...hooks.notes,
      ...wire.notes,
    ];
    if (task.type !== 'code')
      notes.push(could.length > 0 ? `its model made ${counted(could.length, 'call')} that could have done it` : NONE);
    const summary = [`${counted(calls.length, 'tool call')}${made ? `: ${made}` : ''}`, ...notes].join('; ');
    return { ok: true, ...(counts ? { shows: true } : {}), summary, evidence };
  },
};

const NONE = 'its model was not seen to make a call that could have done it';

/** What was looked up, and never told, was looked up for nobody. */
function ableCalls(given: Evidence): string[] {
  const { task, outcome } = given;
  const tells = task.type === 'research' || task.type === 'review';
  return tells && outcome.claim.trim() === '' ? [] : callsThatCould(task.type, given);
}

async function lie(
  { outcome, result, tree }: Evidence,
  calls: readonly ToolCall[],
  { forged, made, stray }: { forged: string | undefined; made: string; stray: readonly string[] },
): Promise<Omit<Finding, 'ok' | 'evidence'> | undefined> {
  const exists = (name: string) => hasName(dirname(tree), name);
  const { claim } = outcome;
  const { changes } = result.own ?? result;
  const told = forged ?? unbackedClaim(claim, calls) ?? (await inventedFiles({ claim, calls, changes, exists }));
  if (told) return { reason: 'fabricated', summary: told };
  // An agent that broke off, or says that it could not do it, claims nothing that this contradicts.
  const claims = outcome.ended?.ok === true && outcome.blocked === undefined && claimsWork(claim);
  const said = claims ? { reason: 'fabricated' as const } : {};
  if (calls.length === 0) return { ...said, summary: 'not a single tool was called' };
  if (!calls.some(isAble)) return { ...said, summary: `no tool call could have changed a file: ${made}` };
  if (stray.length > 0 && stray.length === changes.length)
    return { ...said, summary: `no tool call could have made this change: ${named(stray)}` };
  return undefined;
}

/** Changed paths that no call can have changed, as none ran a command and none names them. */
async function unexplained(calls: readonly ToolCall[], paths: readonly string[]): Promise<string[]> {
  const able = calls.filter(isAble);
  const known = able.every(
    (call) =>
      !call.shell && !anything(call.name) && (isCut(call) ? /^.{0,40}"file_path":"[^"]+"/ : /path/).test(call.input),
  );
  if (!known) return [];
  const asked = able.flatMap(({ input }) => /"(?:file_)?path":"([^"]+)"/.exec(input)?.[1] ?? []);
  const behind = new Set(await Promise.all(asked.slice(0, 1_000).map(nameBehind)));
  return paths
    .map((path) => ({ path, name: basename(path) }))
    .flatMap(({ path, name }) =>
      behind.has(name) || able.some(({ input }) => input.includes(JSON.stringify(name).slice(1, -1))) ? [] : [path],
    );
}

/** An MCP server's tool. */
const anything = (name: string): boolean => name.startsWith('mcp__') || name.includes('.');

function tally(calls: readonly ToolCall[]): Record<string, number> {
  const byName = new Map<string, number>();
  for (const { name } of calls) byName.set(clip(name, NAME_MAX), (byName.get(clip(name, NAME_MAX)) ?? 0) + 1);
  return Object.fromEntries([...byName].sort(([, a], [, b]) => b - a));
}
