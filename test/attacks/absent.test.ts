import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { tempDir } from '../helpers/temp.ts';

test('S2: where bwrap is missing, the doctor says what to install and what there is meanwhile', async () => {
  await using temp = await tempDir();
  const doctor = (...before: string[]) =>
    execa('bwrap', ['--dev-bind', '/', '/', ...before, process.execPath, 'dist/cli/main.js', 'doctor'], {
      ...{ env: { FLEET_HOME: temp.path, TEMPORAL_ADDRESS: '127.0.0.1:1' }, reject: false },
    });
  expect((await doctor()).stdout).toContain('agents run in namespaces of their own');
  expect((await doctor('--ro-bind', '/dev/null', '/usr/bin/bwrap')).stdout).toMatch(
    /agents are held by a process group only and can see all that you can: bwrap is missing: install the package bubblewrap/,
  );
});
