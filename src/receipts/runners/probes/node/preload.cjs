/**
 * Loaded first by every node process of a trial: where that is a test runner, its reporters get one more. Nothing in here may
 * stop a program that is none.
 */
const { isMainThread } = require('node:worker_threads');

if (isMainThread) {
  for (const watch of ['node-test', 'vitest', 'modules']) {
    try {
      require(`./watch-${watch}.cjs`);
    } catch {}
  }
}
