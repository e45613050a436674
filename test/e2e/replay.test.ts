import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { taskDigest } from '../../src/domain/task/task-digest.ts';
import { HISTORY_NAMES, historyFromJson, recordHistories } from '../helpers/record-histories.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const HISTORIES = path('../fixtures/histories');
const BUNDLE = { codePath: path('../../dist/workflow-bundle.js') };

mkdirSync(HISTORIES, { recursive: true });
const record = process.env['RECORD'];
if (record) await recordHistories(HISTORIES, record === '1' ? undefined : record.split(','));
Runtime.install({
  logger: new DefaultLogger('ERROR', () => {}),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});

const names = readdirSync(HISTORIES).map((file) => file.replace(/\.json$/, ''));
const read = (name: string) => historyFromJson(JSON.parse(readFileSync(`${HISTORIES}/${name}.json`, 'utf8')));
const startOf = (history: ReturnType<typeof read>) => history.events![0]!.workflowExecutionStartedEventAttributes!;

/**
 * What is open when a worker is upgraded goes on with the new workflow code. From the first release on, a change
 * that breaks one of these needs `patched`; before it, RECORD=1 npm run test:e2e -- replay records all anew, RECORD=name,name some.
 */
describe('open tasks survive a change of the workflow', () => {
  test('every way that a task may take has been recorded', () => {
    expect(names.toSorted()).toEqual(HISTORY_NAMES);
  });

  test('every workflow has been recorded', () => {
    const known = [...readFileSync(path('../../src/workflows/index.ts'), 'utf8').matchAll(/export \{ (\w+) \}/g)];
    const types = new Set(names.map((name) => startOf(read(name)).workflowType!.name));
    // It lasts for as long as a client waits for the answer.
    types.add('askWorker');
    expect(types).toEqual(new Set(known.map(([, type]) => type)));
  });

  test.each(names)('%s replays', async (name) => {
    await Worker.runReplayHistory({ workflowBundle: BUNDLE }, read(name), startOf(read(name)).workflowId!);
  });

  test('a workflow that does something else does not', async () => {
    const history = read('done');
    const claim = history.events!.find((event) => event.activityTaskScheduledEventAttributes)!;
    claim.activityTaskScheduledEventAttributes!.activityType!.name = 'somethingElse';
    await expect(Worker.runReplayHistory({ workflowBundle: BUNDLE }, history, 'done')).rejects.toThrow(
      /[Nn]ondeterminism/,
    );
  });

  test('a task that was let in before a rule that would refuse it goes on', async () => {
    const history = read('done');
    const [payload, digest] = startOf(history).input!.payloads!;
    const input = JSON.parse(Buffer.from(payload!.data!).toString()) as object;
    const task = { ...input, limits: { total: '1h', idle: '2h' } };
    payload!.data = Buffer.from(JSON.stringify(task));
    digest!.data = Buffer.from(JSON.stringify(taskDigest(task)));
    await Worker.runReplayHistory({ workflowBundle: BUNDLE }, history, 'done');
  });

  test('a task that is done in one run takes at most 50 events', () => {
    expect(read('done').events!.length).toBeLessThanOrEqual(50);
  });
});

test('workflows load no schema library, which each of them would keep in memory', () => {
  expect(readFileSync(BUNDLE.codePath, 'utf8')).not.toContain('node_modules/zod');
});
