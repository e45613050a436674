import { createCoders } from '../../../src/coders/registry.ts';
import { scriptedAt } from '../scenario.ts';
import { conformance } from './suite.ts';

conformance({
  name: 'codex',
  package: '@openai/codex',
  fixtures: 'events',
  setup: (url) => {
    const { coders, env } = scriptedAt(url);
    return { coder: createCoders(coders).get('codex')!, env };
  },
});
