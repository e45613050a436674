import { SETUPS } from './setups.ts';
import { conformance } from './suite.ts';

conformance({
  name: 'claude',
  package: '@anthropic-ai/claude-code',
  fixtures: 'claude',
  setup: SETUPS.claude,
  cannot: { reset: 'only for a subscription: with a key, the reset time stands on the wire alone' },
});
