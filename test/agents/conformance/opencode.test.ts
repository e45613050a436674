import { SETUPS } from './setups.ts';
import { conformance } from './suite.ts';

const DATABASE = 'its sessions lie in a database with a log beside it: no one file that can be carried';
const RETRIES = 'after 62 s of its own retries';

conformance({
  name: 'opencode',
  package: 'opencode-ai',
  fixtures: 'opencode',
  setup: SETUPS.opencode,
  cannot: {
    resume: DATABASE,
    killed: DATABASE,
    reset: 'it waits in silence for as long as the 429 says: the time stands on the wire alone',
  },
  slow: ['billing', 'offline'],
  notes: { billing: RETRIES, offline: RETRIES },
});
