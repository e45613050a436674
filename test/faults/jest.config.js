import { fileURLToPath } from 'node:url';
import base from '../../jest.config.js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The fault matrix, one test a row, each with the real fault injected: `npm run test:faults`. */
export default {
  ...base,
  rootDir: here('.'),
  roots: [here('.')],
  testPathIgnorePatterns: ['/node_modules/'],
  // Leases are short there: two files at once on two cores make workers late.
  maxWorkers: 1,
  testTimeout: 240_000,
};
