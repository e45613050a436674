import { expect, test } from '@jest/globals';
import { followUpId, isFollowUpOf } from '../../../src/domain/people/follow-up-id.ts';
import { isTaskId } from '../../../src/domain/names.ts';

test('its id is the same each time, valid, and another one for another parent', () => {
  expect(followUpId('build-it-abc', 2, 1)).toBe('build-it-abc.2-1');
  const long = 'x'.repeat(63);
  expect(isTaskId(followUpId(`${long}a`, 12, 20))).toBe(true);
  expect(followUpId(`${long}a`, 1, 1)).not.toBe(followUpId(`${long}b`, 1, 1));
  expect(followUpId(`${long}a`, 1, 1)).toBe(followUpId(`${long}a`, 1, 1));
});

test('an id is a follow-up of one parent alone', () => {
  const long = 'x'.repeat(63);
  expect(isFollowUpOf('a', followUpId('a', 1, 2))).toBe(true);
  expect(isFollowUpOf(long, followUpId(long, 12, 20))).toBe(true);
  for (const id of ['a', 'a.b', 'a.1-2.1-1', 'ab.1-2', 'a.01-2']) expect(isFollowUpOf('a', id)).toBe(false);
});
