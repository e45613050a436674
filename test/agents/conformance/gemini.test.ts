import { createCoders } from '../../../src/coders/registry.ts';
import { agentBinaries } from '../binaries.ts';
import { conformance } from './suite.ts';

conformance({
  name: 'gemini',
  package: '@google/gemini-cli',
  fixtures: 'gemini',
  failedExit: null,
  endsWhenCut: true,
  setup: (url) => ({
    coder: createCoders({ gemini: { command: agentBinaries().gemini, model: 'gemini-2.5-pro' } }).get('gemini')!,
    env: { GEMINI_API_KEY: 'sk-scripted-000003', GOOGLE_GEMINI_BASE_URL: url },
  }),
  cannot: { reset: 'a daily quota ends it without a time: that stands on the wire alone' },
  notes: { cut: 'ends as `overloaded`' },
});
