import type { HookCall } from '../../domain/agent/event.ts';
import type { Evidence } from '../../ports.ts';
import { clip, counted, excerpt, sample } from '../bounded.ts';

/** How what the hooks said agrees with the event stream. */
interface Agreement {
  /** Set where the stream holds a call that cannot have happened. */
  forged?: string;
  /** What is odd, and no proof of anything: a phrase each. */
  notes: string[];
  evidence: Record<string, unknown>;
}

/**
 * Two records of the same tool calls, joined by id: what the coder printed, and what its hooks said by another way. An agent
 * with a shell can write to both, and the coder lets a call pass whose hook failed, so they only have to agree.
 *
 * What rejects is a forged stream: a call that ended well and that no hook saw, neither before nor after it, although
 * hooks spoke of another call that ended later, so that they worked meanwhile. For that no honest run has an explanation,
 * unless the run was out of processes or memory, hooks' lines were dropped, or the hooks' coder gives other ids.
 *
 * What is only noted: no hooks at all (an old CLI or keeper, hooks turned off by the coder's own arguments or a machine's
 * policy); a call without hooks at the end (hooks turned off half way); a refused call (the CLI checks its input before it
 * asks any hook); hooks without a call (a sub-agent's); a call that ended before it began, and lines of somebody else.
 */
export function agreement({ hooks, events, outcome }: Pick<Evidence, 'hooks' | 'events' | 'outcome'>): Agreement {
  if (!hooks?.calls.length) {
    const garbage = hooks?.garbage ? ['what came by the hooks is none of ours'] : [];
    return { notes: garbage, evidence: { hooks: hooks ? 0 : null } };
  }
  const calls = events.flatMap((event, at) => (event.type === 'tool-call' ? [{ ...event, at }] : []));
  const ends = new Map(
    events.flatMap((event, at) => (event.type === 'tool-result' ? [[event.id, { event, at }]] : [])),
  );
  const seen = new Set(hooks.calls.map(({ id }) => id));
  const unseen = calls.filter(({ id }) => !seen.has(id) && ends.get(id)?.event.ok === true);
  const lastSeen = Math.max(-1, ...[...ends].map(([id, { at }]) => (seen.has(id) ? at : -1)));
  const excused = outcome.outOfProcesses === true || outcome.outOfMemory === true || !hooks.whole;
  const joined = calls.some(({ id }) => seen.has(id));
  const forged = unseen.find(({ at }) => joined && !excused && at < lastSeen);
  const ids = new Set(calls.map(({ id }) => id));
  const unasked = [...seen].filter((id) => !ids.has(id));
  const early = outOfOrder(hooks.calls);
  const counts: [number, string][] = [
    [unseen.length, 'that no hook saw'],
    [unasked.length, 'that only hooks saw'],
    [early.length, 'that ended before it began, as the hooks say'],
  ];
  return {
    ...(forged ? { forged: sentence(forged) } : {}),
    notes: [
      ...counts.flatMap(([n, what]) => (n > 0 ? [`${counted(n, 'call')} ${what}`] : [])),
      ...(hooks.garbage > 0 ? [`${counted(hooks.garbage, 'line')} among the hooks' that no hook wrote`] : []),
    ],
    evidence: { hooks: seen.size, unseen: sample(unseen.map(({ id }) => id)), unasked: sample(unasked) },
  };
}

const sentence = ({ name, input }: { name: string; input: string }): string =>
  `its output shows a call that its hooks did not see: ${clip(name, 40)} ${excerpt(input.replace(/\s+/g, ' '), 80)}`;

function outOfOrder(calls: readonly HookCall[]): string[] {
  const begun = new Set<string>();
  return calls.flatMap(({ phase, id }) => {
    if (phase === 'pre') begun.add(id);
    return phase === 'pre' || begun.has(id) ? [] : [id];
  });
}
