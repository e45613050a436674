import { availableParallelism } from 'node:os';
import { suiteAt } from '../suite.js';

/** The fault matrix, one test a row, each with the real fault injected: `npm run test:faults`. */
export default suiteAt(import.meta.url, {
  // Leases are short there: two files at once on two cores make workers late.
  maxWorkers: 1,
  maxConcurrency: availableParallelism(),
  testTimeout: 240_000,
});
