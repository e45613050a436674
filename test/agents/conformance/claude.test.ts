import { createCoders } from '../../../src/coders/registry.ts';
import { scriptedAt } from '../scenario.ts';
import { conformance } from './suite.ts';

conformance({
  name: 'claude',
  package: '@anthropic-ai/claude-code',
  fixtures: 'claude',
  setup: (url) => {
    const { coders, env } = scriptedAt(url);
    return { coder: createCoders(coders).get('claude')!, env };
  },
  cannot: { reset: 'only for a subscription: with a key, the reset time stands on the wire alone' },
});
