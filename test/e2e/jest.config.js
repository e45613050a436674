import { suiteAt } from '../suite.js';

/** A task's whole way, with real workers on a real server: `npm run test:e2e`. */
export default suiteAt(import.meta.url);
