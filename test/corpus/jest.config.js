import { suiteAt } from '../suite.js';

/** Every cheat and every honest but awkward work, each as a real task: `npm run test:corpus`. */
export default suiteAt(import.meta.url, {
  testPathIgnorePatterns: ['/node_modules/', '/part.test.ts', '/generate/exercises/'],
  // One worker takes all that the machine has.
  maxWorkers: 1,
});
