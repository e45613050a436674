import { fileURLToPath } from 'node:url';
import { suiteAt } from '../suite.js';

/** The real agent CLIs against a scripted model, and real test runners: `npm run test:agents`. The first run installs them, 1.6 GB. */
export default suiteAt(import.meta.url, { globalSetup: fileURLToPath(new URL('install.ts', import.meta.url)) });
