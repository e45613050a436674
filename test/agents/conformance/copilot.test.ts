import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { createCopilot } from '../../../src/coders/copilot.ts';
import { FOLDER } from '../binaries.ts';
import { conformance } from './suite.ts';
import { byProxy } from './subject.ts';

const PACKAGE = `@github/copilot-${platform()}-${arch()}`;

conformance({
  name: 'copilot',
  package: PACKAGE,
  fixtures: 'copilot',
  setup: (url) => ({
    coder: byProxy(
      createCopilot({ command: [join(FOLDER, 'node_modules', PACKAGE, 'copilot')], model: 'gpt-5.4' }),
      url,
    ),
    env: { COPILOT_PROVIDER_WIRE_API: 'responses' },
  }),
  usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0 },
  cannot: {
    billing: 'it calls it a rate limit: the wire tells them apart',
    reset: 'it names no time: the reset time stands on the wire alone',
  },
  notes: { stream: 'without tokens: these are counted on the wire alone' },
});
