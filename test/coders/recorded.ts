import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentEvent } from '../../src/domain/agent/event.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/coders');

/** What the real binaries printed to stdout (`RECORD=1 npm run test:agents` writes it again), by scenario. */
export function recorded(protocol: string): Record<string, string[]> {
  const files = readdirSync(join(FOLDER, protocol)).filter((name) => name.endsWith('.jsonl'));
  return Object.fromEntries(
    files.map((name) => [
      name.replace('.jsonl', ''),
      readFileSync(join(FOLDER, protocol, name), 'utf8')
        .trimEnd()
        .split('\n'),
    ]),
  );
}

export const only = <T extends AgentEvent['type']>(
  events: readonly AgentEvent[],
  type: T,
): Extract<AgentEvent, { type: T }>[] =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
