import { SETUPS } from './setups.ts';
import { conformance } from './suite.ts';

const RETRIES = 'after 76 s of its own retries';

conformance({
  name: 'qwen',
  package: '@qwen-code/qwen-code',
  fixtures: 'qwen',
  setup: SETUPS.qwen,
  cannot: { reset: 'it passes on the words of a 429 but not its headers: the time stands on the wire alone' },
  slow: ['billing', 'server', 'offline'],
  notes: { billing: RETRIES, server: RETRIES, offline: RETRIES },
});
