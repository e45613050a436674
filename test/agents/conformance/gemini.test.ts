import { SETUPS } from './setups.ts';
import { conformance } from './suite.ts';

conformance({
  name: 'gemini',
  package: '@google/gemini-cli',
  fixtures: 'gemini',
  failedExit: null,
  endsWhenCut: true,
  setup: SETUPS.gemini,
  cannot: { reset: 'a daily quota ends it without a time: that stands on the wire alone' },
  loadsAnyway: 'GEMINI.md',
  notes: {
    cut: 'ends as `overloaded`',
    context: 'but for GEMINI.md of the repository, which it loads also with `none`',
  },
});
