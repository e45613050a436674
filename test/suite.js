import { fileURLToPath } from 'node:url';
import base from '../jest.config.js';

/** What jest is told of a suite that `npm test` leaves out: all tests below the folder of its config, which `url` names. */
export function suiteAt(url, settings = {}) {
  const folder = fileURLToPath(new URL('.', url));
  return { ...base, rootDir: folder, roots: [folder], testPathIgnorePatterns: ['/node_modules/'], ...settings };
}
