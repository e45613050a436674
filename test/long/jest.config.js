import { suiteAt } from '../suite.js';

/** Lives of tasks that take their time: lost and resumed, signed, compared, paid for. `npm run test:long`. */
export default suiteAt(import.meta.url, { testTimeout: 300_000 });
