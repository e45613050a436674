import { join } from 'node:path';
import { createPi } from '../../../src/coders/pi.ts';
import { FOLDER } from '../binaries.ts';
import { conformance } from './suite.ts';
import { byProxy } from './subject.ts';

const MAIN = join(FOLDER, 'node_modules/@mariozechner/pi-coding-agent/dist/cli.js');

conformance({
  name: 'pi',
  package: '@mariozechner/pi-coding-agent',
  fixtures: 'pi',
  setup: (url) => ({
    coder: byProxy(createPi({ command: [process.execPath, MAIN], model: 'openai/gpt-5.4' }), url, 'openai-responses'),
    env: {},
  }),
  failedExit: 0,
  endsWhenCut: true,
  cannot: {
    reset: 'it names no time: the reset time stands on the wire alone',
  },
});
