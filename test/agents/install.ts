import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { agentBinaries, FOLDER } from './binaries.ts';

/** Jest's global setup: installs this folder's packages where one is missing or of another version. Scripts stay off: none is needed. */
export default function install(): void {
  try {
    agentBinaries();
  } catch {
    process.stderr.write(`Installing agent CLIs and test runners in ${FOLDER} (1.6 GB, once) …\n`);
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'inherit' });
    agentBinaries();
  }
  // The node of some CLIs is found by its path: as a command it would be that of every npm script here.
  rmSync(join(FOLDER, 'node_modules/.bin/node'), { force: true });
}
