import { suiteAt } from '../suite.js';

/** Tasks that wait for each other, for people and for other programs, on a real server: `npm run test:queue`. */
export default suiteAt(import.meta.url, { testTimeout: 300_000 });
