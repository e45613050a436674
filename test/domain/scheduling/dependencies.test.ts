import { expect, test } from '@jest/globals';
import { standingFor } from '../../../src/domain/scheduling/dependencies.ts';

const VIEW = {
  id: 'a',
  state: 'done',
  reason: null,
  message: null,
  repo: '/r',
  branch: 'fleet/a',
  commit: 'mine',
} as const;

test('those that depend on a task start from its commit, or from where that was merged', () => {
  expect(standingFor(VIEW).commit).toBe('mine');
  expect(standingFor({ ...VIEW, branch: null }).commit).toBeNull();
  expect(standingFor({ ...VIEW, merged: { into: 'main', commit: 'merged' } }).commit).toBe('merged');
});
