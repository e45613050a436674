import { fileURLToPath } from 'node:url';
import base from '../../jest.config.js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Every cheat and every honest but awkward work, each as a real task: `npm run test:corpus`. */
export default {
  ...base,
  rootDir: here('.'),
  roots: [here('.')],
  testPathIgnorePatterns: ['/node_modules/', '/part.test.ts'],
  // One worker takes all that the machine has.
  maxWorkers: 1,
};
