import type { DriveInput } from '../../domain/agent/driver-args.ts';
import { bothEnds, CODER_FAILURES, type AgentEvent } from '../../domain/agent/event.ts';
import {
  clip,
  count,
  label,
  parseObject,
  shown,
  text,
  TEXT_MAX,
  TOOL_MAX,
  type Json,
} from '../../domain/values/json.ts';
import { builtFile } from '../../package.ts';
import type { StartInput } from '../../ports.ts';
import type { Protocol } from './overlay.ts';

/**
 * A driver is a program of ours between the keeper and an agent CLI that wants a conversation instead of a prompt on stdin.
 * It is the agent process: it lives in the agent's namespace, and outlives the worker. It prints one `AgentEvent` a line.
 */
export const driveProtocol: Protocol = { structured: true, parser: () => parse };

/** Built beforehand, also for who runs the sources. */
const MAIN = builtFile('drivers/main.js');

export const driven = (order: DriveInput): string[] => [process.execPath, MAIN, JSON.stringify(order)];

/** What the driver has to know of a run. */
export const conversationOf = ({ tree, resume }: StartInput, model: string | undefined) => ({
  cwd: tree,
  ...(model ? { model } : {}),
  ...(resume ? { resume: resume.id } : {}),
});

/** What another program can write to as well is not taken for granted. */
function parse(line: string): AgentEvent[] {
  const event = parseObject(line);
  return event ? [read(event) ?? []].flat() : [];
}

function read(event: Json): AgentEvent | undefined {
  switch (event['type']) {
    case 'started': {
      const { session, model } = { session: label(event['session']), model: label(event['model']) };
      return { type: 'started', ...(session ? { session } : {}), ...(model ? { model } : {}) };
    }
    case 'text':
      return { type: 'text', text: bothEnds(text(event['text']), TEXT_MAX) };
    case 'tool-call':
      return { type: 'tool-call', id: label(event['id']), name: label(event['name']), input: shown(event['input']) };
    case 'tool-result': {
      const output = bothEnds(text(event['output']), TOOL_MAX);
      return { type: 'tool-result', id: label(event['id']), ok: event['ok'] === true, output };
    }
    case 'usage':
      return usage(event);
    case 'waiting':
      return { type: 'waiting', what: clip(text(event['what']), TOOL_MAX) };
    case 'rate-limited': {
      const until = Date.parse(text(event['until']));
      return { type: 'rate-limited', ...(Number.isNaN(until) ? {} : { until: new Date(until).toISOString() }) };
    }
    case 'ended': {
      const failure = CODER_FAILURES.find((name) => name === event['failure']);
      const ok = event['ok'] === true && !failure;
      return {
        type: 'ended',
        ok,
        text: bothEnds(text(event['text']), TEXT_MAX),
        ...(ok ? {} : { failure: failure ?? 'agent-error' }),
      };
    }
    default:
      return undefined;
  }
}

function usage(event: Json): AgentEvent {
  const optional = ['written', 'reasoning', 'costUsd', 'context', 'window'] as const;
  const told = optional.flatMap((key) => (typeof event[key] === 'number' ? [[key, count(event[key])] as const] : []));
  return {
    type: 'usage',
    input: count(event['input']),
    output: count(event['output']),
    cached: count(event['cached']),
    ...Object.fromEntries(told),
  };
}
