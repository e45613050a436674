import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { historyFromJson, recordHistories } from '../helpers/record-histories.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const HISTORIES = path('../fixtures/histories');
const BUNDLE = { codePath: path('../../dist/workflow-bundle.js') };

mkdirSync(HISTORIES, { recursive: true });
if (process.env['RECORD']) await recordHistories(HISTORIES);
Runtime.install({
  logger: new DefaultLogger('ERROR', () => {}),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});

const names = readdirSync(HISTORIES).map((file) => file.replace(/\.json$/, ''));
const read = (name: string) => historyFromJson(JSON.parse(readFileSync(`${HISTORIES}/${name}.json`, 'utf8')));

/**
 * Tasks that are open when a worker is upgraded go on with the new workflow code. A change that breaks one of these
 * needs `patched`; once no release runs the old code any more: RECORD=1 npx jest test/e2e/replay.test.ts
 */
describe('open tasks survive a change of the workflow', () => {
  test('every way that a task may take has been recorded', () => {
    expect(names.toSorted()).toEqual([
      'adopted',
      'cancelled',
      'done',
      'given-up',
      'invalid',
      'lost-then-done',
      'parked-retry-accept',
      'rejected-then-done',
      'routed-elsewhere',
    ]);
  });

  test.each(names)('%s replays', async (name) => {
    await Worker.runReplayHistory({ workflowBundle: BUNDLE }, read(name), name);
  });

  test('a workflow that does something else does not', async () => {
    const history = read('done');
    const claim = history.events!.find((event) => event.activityTaskScheduledEventAttributes)!;
    claim.activityTaskScheduledEventAttributes!.activityType!.name = 'somethingElse';
    await expect(Worker.runReplayHistory({ workflowBundle: BUNDLE }, history, 'done')).rejects.toThrow(
      /[Nn]ondeterminism/,
    );
  });

  test('a task that is done in one run takes at most 50 events', () => {
    expect(read('done').events!.length).toBeLessThanOrEqual(50);
  });
});
