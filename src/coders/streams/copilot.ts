import { bothEnds, type AgentEvent, type CoderFailure } from '../../domain/agent/event.ts';
import { failureIn, failureOfStatus } from '../shared/failures.ts';
import { label, object, parseObject, shown, text, TEXT_MAX, TOOL_MAX, type Json } from '../../domain/values/json.ts';
import type { Protocol } from '../shared/overlay.ts';

/**
 * `copilot --output-format=json`: one JSON object a line, as observed on 1.0.102. Call ids are the wire's with a prefix. It tells
 * no tokens, and its session only at the end: `fleet.session` is a line that our start of it prints.
 */
export const copilotProtocol: Protocol = { structured: true, parser };

interface State {
  started: boolean;
  /** The last message. */
  said: string;
  /** Why the run failed, as the CLI said it. */
  error: { text: string; failure: CoderFailure } | undefined;
}

function parser(earlier: readonly AgentEvent[] = []): (line: string) => AgentEvent[] {
  const texts = earlier.flatMap((event) => (event.type === 'text' ? event.text : []));
  const broken = texts.findLast((each) => each.startsWith(ERROR));
  const state: State = {
    started: earlier.some(({ type }) => type === 'started'),
    said: texts.findLast((each) => !each.startsWith(ERROR)) ?? '',
    error: broken === undefined ? undefined : told(broken),
  };
  return (line) => {
    const event = parseObject(line);
    const data = object(event?.['data']) ?? {};
    switch (event?.['type']) {
      case 'fleet.session':
        return started(state, label(data['sessionId']));
      case 'assistant.message':
        return message(state, text(data['content']));
      case 'tool.execution_start':
        return [call(data)];
      case 'tool.execution_complete': {
        const output = text(object(data['result'])?.['content']) || text(object(data['error'])?.['message']);
        const ok = data['success'] === true;
        return [{ type: 'tool-result', id: label(data['toolCallId']), ok, output: bothEnds(output, TOOL_MAX) }];
      }
      case 'session.error':
        state.error = told(`${ERROR}${wordsOf(data)}`);
        return [{ type: 'text', text: state.error.text }];
      case 'result':
        return ended(state, event);
      default:
        return [];
    }
  };
}

const ERROR = 'Error of Copilot CLI: ';

function started(state: State, session: string): AgentEvent[] {
  if (state.started) return [];
  state.started = true;
  return [{ type: 'started', session }];
}

function message(state: State, content: string): AgentEvent[] {
  if (!content) return [];
  state.said = bothEnds(content, TEXT_MAX);
  return [{ type: 'text', text: state.said }];
}

function call(data: Json): AgentEvent {
  const asked = data['arguments'];
  const input = shown(text(object(asked)?.['command']) || (asked ?? ''));
  return { type: 'tool-call', id: label(data['toolCallId']), name: label(data['toolName']), input };
}

/** With the status and the kind, so that the failure can be read from the words alone. */
function wordsOf(data: Json): string {
  const status = typeof data['statusCode'] === 'number' ? ` (HTTP ${data['statusCode']})` : '';
  return `${label(data['errorType'])}: ${text(data['message'])}${status}`;
}

function told(said: string): NonNullable<State['error']> {
  const status = Number(/\(HTTP (\d+)\)$/.exec(said)?.[1] ?? Number.NaN);
  return { text: bothEnds(said, TEXT_MAX), failure: failureOfStatus(status) ?? failureIn(said.slice(ERROR.length)) };
}

function ended(state: State, event: Json): AgentEvent[] {
  if (event['exitCode'] === 0) return [{ type: 'ended', ok: true, text: state.said }];
  return [{ type: 'ended', ok: false, ...(state.error ?? { text: state.said, failure: 'agent-error' }) }];
}
