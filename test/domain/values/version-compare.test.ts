import { expect, test } from '@jest/globals';
import { isOlder, versionIn } from '../../../src/domain/values/version-compare.ts';

test('a version is found in what programs answer', () => {
  expect(versionIn('codex-cli 0.169.0')).toBe('0.169.0');
  expect(versionIn('2.1.329 (Claude Code)')).toBe('2.1.329');
  expect(versionIn('found')).toBeUndefined();
});

test.each([
  ['2.1.0', '2.1.0', false],
  ['2.0.99', '2.1.0', true],
  ['2.10.0', '2.9.9', false],
  ['2.1', '2.1.1', true],
  ['2.1.0', '2.1', false],
  ['10.0', '9.9.9', false],
])('%s is older than %s: %s', (version, than, older) => expect(isOlder(version, than)).toBe(older));
