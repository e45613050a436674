import { createCodex } from '../../../src/coders/codex.ts';
import { scriptedAt } from '../scenario.ts';
import { conformance } from './suite.ts';

conformance({
  name: 'codex exec',
  package: '@openai/codex',
  fixtures: 'codex',
  countsAgain: true,
  setup: (url) => {
    const { coders, env } = scriptedAt(url);
    return { coder: createCodex({ ...coders['codex'], protocol: 'codex' }), env };
  },
});
