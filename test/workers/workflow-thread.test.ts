import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { DefaultLogger, type Worker } from '@temporalio/worker';
import { workflowThread } from '../../src/workers/workflow-thread.ts';

const BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));
const threads = (): number => readdirSync('/proc/self/task').length;

type Create = (bundle: unknown, options: unknown, logger: unknown) => Promise<{ destroy(): Promise<void> }>;
type Creating = { createWorkflowCreator: Create };

test('the second SDK worker starts no thread, and the one there is ends with the last', async () => {
  const create = (one: typeof Worker) =>
    (one as unknown as Creating).createWorkflowCreator(
      { code: readFileSync(BUNDLE, 'utf8'), filename: BUNDLE, sourceMap: { version: 3, sources: [], mappings: '' } },
      { workflowThreadPoolSize: 1, isolateExecutionTimeoutMs: 30_000, reuseV8Context: true, activities: new Map() },
      new DefaultLogger('ERROR'),
    );
  const thread = workflowThread({});
  const one = await create(thread.Worker);
  const [atOne, started] = [threads(), await create(thread.Worker)];
  expect(threads()).toBe(atOne);
  await one.destroy();
  await started.destroy();
  expect(threads()).toBe(atOne);
  await thread.end();
  expect(threads()).toBeLessThan(atOne);
}, 60_000);
