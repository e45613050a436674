import { chmod, cp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { filterFile, syscallFilter } from '../src/adapters/sandbox/syscalls.ts';
import { bundlePrograms } from './programs.ts';
import { bundleWorkflows } from './workflows.ts';

/** `npm run build`, after the types: everything in dist that runs. */
const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const PROGRAMS = [
  'cli/main',
  'client',
  'adapters/keeper/main',
  'adapters/proxy/main',
  'adapters/sandbox/listen',
  'adapters/git/process/main',
  'adapters/artifacts/main',
  'drivers/main',
  'mcp/main',
  'adapters/test-sources/main',
];

await rm(at('dist/chunks'), { recursive: true, force: true });
await Promise.all([
  bundleWorkflows({ workflows: at('src/workflows/index.ts'), bundle: at('dist/workflow-bundle.js') }),
  bundlePrograms({
    entries: {
      ...Object.fromEntries(PROGRAMS.map((name) => [name, at(`src/${name}.ts`)])),
      'workflow-thread': createRequire(import.meta.url).resolve(
        '@temporalio/worker/lib/workflow/workflow-worker-thread.js',
      ),
    },
    outdir: at('dist'),
  }),
  cp(at('src/receipts/runners/probes'), at('dist/probes'), { recursive: true }),
]);
for (const filter of [{ debuggers: true }, { debuggers: false }])
  await writeFile(at(`dist/adapters/sandbox/${filterFile(filter)}`), syscallFilter(filter));
await chmod(at('dist/cli/main.js'), 0o755);
