import { COPILOT } from '../binaries.ts';
import { COPILOT_SETUP } from './setups.ts';
import { conformance } from './suite.ts';

conformance({
  name: 'copilot',
  package: COPILOT,
  fixtures: 'copilot',
  setup: COPILOT_SETUP,
  usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0 },
  cannot: {
    billing: 'it calls it a rate limit: the wire tells them apart',
    reset: 'it names no time: the reset time stands on the wire alone',
  },
  notes: { stream: 'without tokens: these are counted on the wire alone' },
});
