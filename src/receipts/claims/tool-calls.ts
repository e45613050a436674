import type { StoredEvent } from '../../domain/agent/event.ts';
import type { WireCall, WireLog } from '../../domain/agent/model-traffic.ts';
import type { Evidence } from '../../ports.ts';
import { clip, counted, excerpt, sample } from '../bounded.ts';
import { toolCalls, type ToolCall } from './shell-calls.ts';

/** How what the model was seen to ask for agrees with the event stream. */
interface Backing {
  /** Set where the stream holds a call that the model never made. */
  forged?: string;
  notes: string[];
  evidence: unknown;
}

/**
 * The model's own words, as the run's proxy saw them, against what the coder printed. No agent can write to the wire's record:
 * a call in the stream that no answer of the model asked for is forged.
 *
 * By id where the two share any: most coders print the model's. `codex exec` and Gemini number their calls by themselves: there
 * a command has to be one that the model asked for, by its text. A model that had no exchange at all has
 * asked for nothing.
 *
 * What is only noted: calls of the model that the stream lacks (refused ones, a sub-agent's); and everything, where the record
 * may lack something: the proxy was started anew in mid-run, the file was full, or something could not be read. A program that
 * the model writes may call tools by itself (`exec` of some models): its calls are nowhere on the wire.
 */
export function backing({ wire, events }: Pick<Evidence, 'wire' | 'events'>): Backing {
  if (!wire) return { notes: [], evidence: null };
  if (wire.unseen !== null)
    return { notes: [`model calls not seen: ${wire.unseen}`], evidence: { unseen: wire.unseen } };
  const asked = wire.exchanges.flatMap(({ calls }) => calls);
  const printed = toolCalls(events);
  const ids = new Set(asked.map(({ id }) => id));
  const byId = printed.some(({ id }) => ids.has(id));
  const forged = unasked(events, wire);
  const shown = new Set(printed.map(({ id }) => id));
  const hidden = byId ? asked.filter(({ id }) => id !== null && !shown.has(id)) : [];
  const excused = !wire.whole;
  const [first] = forged;
  return {
    ...(first && !excused ? { forged: sentence(first, wire) } : {}),
    notes: [
      ...(forged.length > 0 ? [`${counted(forged.length, 'call')} that its model was not seen to make`] : []),
      ...(hidden.length > 0 ? [`${counted(hidden.length, 'call')} of its model that its output lacks`] : []),
      ...(excused ? ["the record of its model's calls has gaps"] : []),
    ],
    evidence: {
      exchanges: wire.exchanges.length,
      calls: asked.length,
      results: wire.exchanges.reduce((sum, { results }) => sum + results.length, 0),
      joined: byId ? 'by id' : 'by text',
      unasked: sample(forged.map(({ id }) => id)),
      hidden: sample(hidden.map(({ id }) => id ?? '')),
      whole: wire.whole,
    },
  };
}

const sentence = ({ name, input }: ToolCall, { exchanges }: WireLog): string =>
  exchanges.length === 0
    ? `its output shows tool calls, and its model was never asked: ${clip(name, 40)} ${excerpt(oneLine(input), 80)}`
    : `its output shows a call that its model never made: ${clip(name, 40)} ${excerpt(oneLine(input), 80)}`;

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

/** Drops from an earlier run's events the calls that its model was seen not to have made: nobody is helped by those later. */
export function withoutForged(events: readonly StoredEvent[], wire: WireLog | null): StoredEvent[] {
  if (!wire?.whole || wire.unseen !== null) return [...events];
  const forged = new Set(unasked(events, wire).map(({ id }) => id));
  return events.filter((event) => event.type !== 'tool-call' || !forged.has(event.id));
}

/** Calls of the stream that the model was not seen to make. */
function unasked(events: readonly StoredEvent[], { exchanges }: WireLog): ToolCall[] {
  const asked = exchanges.flatMap(({ calls }) => calls);
  const printed = toolCalls(events);
  const ids = new Set(asked.map(({ id }) => id));
  return printed.some(({ id }) => ids.has(id)) ? printed.filter(({ id }) => !ids.has(id)) : unmatched(printed, asked);
}

/** Calls that nothing of what the model asked for explains. */
function unmatched(printed: readonly ToolCall[], asked: readonly WireCall[]): ToolCall[] {
  if (asked.length === 0) return [...printed];
  if (asked.some(isProgram)) return [];
  const wanted = asked.map(({ input }) => bare(input).slice(0, COMPARED)).filter(Boolean);
  return printed.filter(({ shell, input }) => {
    const command = bare(input);
    return shell && command !== '' && !wanted.some((want) => command.includes(want));
  });
}

/** Characters of a command: the wire keeps its first 200. */
const COMPARED = 120;

/** Without what a shell's quoting adds. */
const bare = (text: string): string => text.replace(/['"\\\s]/g, '');

/** A tool that takes a program, whose own calls the wire does not show. */
const isProgram = ({ name, input }: WireCall): boolean =>
  /^(exec|js|javascript|python|code_interpreter|code_execution)/i.test(name) && /\btools?\.|await\b/.test(input);
