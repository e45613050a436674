import { SETUPS } from './setups.ts';
import { conformance } from './suite.ts';

conformance({
  name: 'codex',
  package: '@openai/codex',
  fixtures: 'events',
  setup: SETUPS.codex,
});
