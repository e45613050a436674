import { fileURLToPath } from 'node:url';
import base from '../../jest.config.js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The fault matrix, one test a row, each with the real fault injected: `npm run test:faults`. */
export default {
  ...base,
  rootDir: here('.'),
  roots: [here('.')],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 240_000,
};
