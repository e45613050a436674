import { suiteAt } from '../suite.js';

/** Attacks on the walls around agents and checks, each first seen to succeed without its wall: `npm run test:attacks`. */
export default suiteAt(import.meta.url, { maxWorkers: 1, testTimeout: 60_000 });
