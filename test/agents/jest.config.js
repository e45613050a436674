import { fileURLToPath } from 'node:url';
import base from '../../jest.config.js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The real agent CLIs against a scripted model, and real test runners: `npm run test:agents`. The first run installs them, 1.6 GB. */
export default {
  ...base,
  rootDir: here('.'),
  roots: [here('.')],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: here('install.ts'),
  testTimeout: 120_000,
};
