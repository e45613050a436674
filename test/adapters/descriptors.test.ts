import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { findProgram } from '../../src/adapters/program/find-program.ts';

/** Looks again and again while a thread of the same process takes one descriptor at a time, as a workflow step does. */
const LOOKS = `
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Descriptors } from './src/adapters/disk/free-space.ts';
const descriptors = new Descriptors();
const had = descriptors.look();
const flag = new Int32Array(new SharedArrayBuffer(8));
const thread = new Worker(\`
  const { openSync, closeSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  let refused = 0;
  let taken = 0;
  parentPort.postMessage('begins');
  for (; Atomics.load(workerData, 0) === 0; Atomics.store(workerData, 1, taken))
    try { closeSync(openSync('/dev/null', 'r')); taken += 1; } catch { refused += 1; taken += 1; }
  parentPort.postMessage(refused);
\`, { eval: true, execArgv: [], workerData: flag });
await once(thread, 'message');
execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=' + (readdirSync('/proc/self/fd').length + 40) + ':']);
const looks = [];
for (let i = 0; i < 200; i += 1) {
  looks.push(descriptors.look());
  const seen = Atomics.load(flag, 1);
  while (Atomics.load(flag, 1) < seen + 10);
}
Atomics.store(flag, 0, 1);
const [refused] = await once(thread, 'message');
console.log(JSON.stringify({ had, short: looks.every((enough) => !enough), refused }));
process.exit(0);
`;

test('to look how many descriptors are left takes none from others', async () => {
  if (!(await findProgram('prlimit', process.env))) return;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    LOOKS,
  ]);
  expect(JSON.parse(stdout)).toEqual({ had: true, short: true, refused: 0 });
});
