import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { bundleWorkflows } from '../../build/workflows.ts';
import { tempDir } from '../helpers/temp.ts';

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

test('the bundle is one file with the workflows in it, written whole', async () => {
  await using temp = await tempDir();
  await symlink(modules, `${temp.path}/node_modules`);
  const workflows = `${temp.path}/workflows.mjs`;
  await writeFile(
    workflows,
    `import { sleep } from '@temporalio/workflow';\nexport async function stub() { await sleep(1); return 'from the stub'; }\n`,
  );
  await bundleWorkflows({ workflows, bundle: `${temp.path}/bundle.js` });
  expect(await readFile(`${temp.path}/bundle.js`, 'utf8')).toContain('from the stub');
});

test('a workflow that uses what the sandbox lacks is refused, and no bundle is written', async () => {
  await using temp = await tempDir();
  await mkdir(`${temp.path}/out`);
  await symlink(modules, `${temp.path}/node_modules`);
  const workflows = `${temp.path}/workflows.mjs`;
  await writeFile(
    workflows,
    `import { readFileSync } from 'node:fs';\nexport async function stub() { return readFileSync('/etc/passwd'); }\n`,
  );
  await expect(bundleWorkflows({ workflows, bundle: `${temp.path}/out/bundle.js` })).rejects.toThrow(/fs/);
  await expect(readFile(`${temp.path}/out/bundle.js`)).rejects.toThrow('ENOENT');
});
