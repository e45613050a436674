import { expect, test } from '@jest/globals';
import { doingOf } from '../../../src/domain/agent/activity-status.ts';
import { NO_WIRE } from '../../../src/domain/agent/model-traffic.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const ago = (seconds: number) => new Date(NOW - seconds * 1_000).toISOString();
const wire = (open: number, quietMs = 0) => ({ open, quietMs, answered: 0, sum: NO_WIRE });
const tool = { what: 'Bash npm test', at: ago(180) };

test.each([
  ['the model answers: its events say it', { wire: wire(1, 500), tool: undefined, lastAt: ago(2) }, undefined],
  ['a slow model', { wire: wire(1, 90_000), tool, lastAt: ago(90) }, 'the model is slow: no byte for 1m 30s'],
  [
    'a tool, and the model waits for it',
    { wire: wire(0), tool, lastAt: ago(180) },
    'a tool runs, for 3m: Bash npm test',
  ],
  [
    'a tool, of a run that nobody sees the wire of',
    { wire: undefined, tool, lastAt: ago(180) },
    'a tool runs, for 3m: Bash npm test',
  ],
  ['neither', { wire: wire(0), tool: undefined, lastAt: ago(120) }, 'no sign of life for 2m'],
  ['neither, for a moment', { wire: wire(0), tool: undefined, lastAt: ago(20) }, undefined],
  ['nothing yet', { wire: undefined, tool: undefined, lastAt: undefined }, undefined],
])('%s', (_, seen, said) => expect(doingOf(seen, NOW)).toBe(said));
