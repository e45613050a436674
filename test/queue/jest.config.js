import { fileURLToPath } from 'node:url';
import base from '../../jest.config.js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Tasks that wait for each other, for people and for other programs, on a real server: `npm run test:queue`. */
export default {
  ...base,
  rootDir: here('.'),
  roots: [here('.')],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
  testTimeout: 120_000,
};
