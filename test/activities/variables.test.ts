import { expect, test } from '@jest/globals';
import type { Deps } from '../../src/activities/worker/context.ts';
import { givenVariables, isGivenElsewhere, refusedVariable } from '../../src/activities/prepare/variables.ts';
import { variableRefused } from '../../src/client/start/variables.ts';
import type { FleetWorker } from '../../src/client/fleet/workers.ts';
import { createCoders } from '../../src/coders/registry.ts';
import { schema } from '../../src/config-schema.ts';
import { factsOf } from '../../src/domain/task/task-facts.ts';
import type { Task } from '../../src/domain/task/schema.ts';
import { parseTask } from '../../src/domain/task/parse.ts';

const LISTED = ['NPM_TOKEN', 'OPENAI_API_KEY', 'MY_KEY', 'GITHUB_TOKEN'];
const config = schema.parse({
  worker: { env: LISTED },
  coders: { mine: { command: ['mine'], protocol: 'none', env: ['MY_KEY', 'MY_MODE'] } },
});
const others: unknown[] = [];
const deps = {
  ...{ config, knownCoders: createCoders(config.coders), attached: () => Promise.resolve(others) },
  worker: { name: 'A', machine: 'm', hostQueue: 'host/A' },
} as unknown as Deps;
const task = (input: object): Task => {
  const parsed = parseTask({ objective: 'x', repo: '/r', machine: 'm', ...input });
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.task;
};

test('a worker gives what it lists, and no credential of a coder or of its own', () => {
  expect(givenVariables(deps)).toEqual(['NPM_TOKEN']);
  expect(refusedVariable(deps, ['NPM_TOKEN', 'LANG'])).toBeUndefined();
  const why = (name: string) => refusedVariable(deps, ['NPM_TOKEN', name])?.message;
  expect(why('AWS_SECRET_ACCESS_KEY')).toBe(
    'env must not have AWS_SECRET_ACCESS_KEY: worker A gives it to no task; worker.env of its configuration lists those that it gives',
  );
  expect(why('ANTHROPIC_API_KEY')).toMatch(/it is a credential of coder claude, which no task gets$/);
  expect(why('MY_KEY')).toMatch(/it is a credential of coder mine/);
  expect(why('GITHUB_TOKEN')).toMatch(/it is the token for pull requests/);
});

test('a claim is left to a worker that gives more', async () => {
  const facts = factsOf(task({ env: ['DEPLOY_TOKEN'] }), 1);
  const beside = (given: object) => [
    { hostQueue: 'host/B', queues: ['fleet'], machine: 'm', env: ['DEPLOY_TOKEN'], ...given },
  ];
  const asked = (...all: unknown[]) => {
    others.splice(0, others.length, ...all);
    return isGivenElsewhere(deps, facts);
  };
  expect(await asked()).toBe(false);
  expect(await asked(...beside({}))).toBe(true);
  expect(await asked(...beside({ env: undefined }))).toBe(false);
  expect(await asked(...beside({ machine: 'n' }))).toBe(false);
  expect(await asked(...beside({ queues: ['night'] }))).toBe(false);
  expect(await asked(...beside({ hostQueue: 'host/A' }))).toBe(false);
});

test('at enqueue it is told as far as records tell', () => {
  const worker = (name: string, given: object = {}) =>
    ({
      name,
      state: 'attached',
      queues: ['fleet'],
      machine: 'm',
      coders: [{ name: 'codex' }],
      ...given,
    }) as FleetWorker;
  const asking = task({ env: ['DEPLOY_TOKEN', 'LANG'] });
  expect(variableRefused(asking, [])).toBeUndefined();
  expect(variableRefused(asking, [worker('A', { state: 'lost' })])).toBeUndefined();
  expect(variableRefused(asking, [worker('A'), worker('B', { env: ['DEPLOY_TOKEN'] })])).toBeUndefined();
  expect(variableRefused(asking, [worker('A'), worker('B', { env: ['DEPLOY_TOKEN'], machine: 'n' })])).toMatch(
    /^env must not have DEPLOY_TOKEN: worker A gives it to no task; worker\.env/,
  );
  expect(variableRefused(asking, [worker('A'), worker('B', { env: [] })])).toMatch(
    /^env must not have DEPLOY_TOKEN: the workers that could take it give it to no task; worker\.env/,
  );
  expect(variableRefused({ ...asking, for: 'jean' }, [worker('A')])).toBeUndefined();
});
