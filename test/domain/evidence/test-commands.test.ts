import { expect, test } from '@jest/globals';
import { looseEquality, namesTestFiles, testCommandOf } from '../../../src/domain/evidence/test-commands.ts';

test.each([
  'pytest -q',
  'python3 -m unittest discover',
  'npx jest --ci',
  'node --import tsx --test',
  'go test ./...',
  'cargo +nightly test',
  './mvnw -q verify',
  'cd web && npx vitest run',
])('%s runs tests', (command) => expect(testCommandOf(command)).toBe(command));

test.each(['node build.js', 'npm test', 'go vet ./...', 'cargo build', 'mvn package.xml', 'sh test.sh', 'eslint .'])(
  '%s is not known to run tests',
  (command) => expect(testCommandOf(command)).toBeUndefined(),
);

test('a script runs what its package.json says', () => {
  expect(testCommandOf('npm test', '{"scripts":{"test":"jest"}}')).toBe('jest');
  expect(testCommandOf('npm run lint', '{"scripts":{"test":"jest","lint":"eslint ."}}')).toBeUndefined();
  expect(testCommandOf('npm test', '{"scripts":{"test":7}}')).toBeUndefined();
  expect(testCommandOf('npm test', 'no JSON')).toBeUndefined();
});

test.each([
  ["import assert from 'node:assert';\nassert.equal(1, x);", 'assert.equal'],
  ["import * as check from 'assert';\ncheck.notDeepEqual(a, b);", 'check.notDeepEqual'],
  ["const assert = require('node:assert');\nassert.deepEqual(a, b);", 'assert.deepEqual'],
])('%j compares by ==', (text, call) => expect(looseEquality(text)).toBe(call));

test.each([
  "import assert from 'node:assert/strict';\nassert.equal(1, x);",
  "const assert = require('assert').strict;\nassert.equal(1, x);",
  "import assert from 'node:assert';\nassert.strictEqual(1, x);",
  "import assert from 'node:assert';\nother.assert.equal(1, x);",
  "import { assert } from 'chai';\nassert.deepEqual(1, x);",
  'expect(a).toEqual(b);',
])('%j does not', (text) => expect(looseEquality(text)).toBeUndefined());

test('settings that say which files hold tests', () => {
  expect(namesTestFiles('module.exports = { testMatch: ["**/*.check.js"] };')).toBe(true);
  expect(namesTestFiles('python_files = check_*.py')).toBe(true);
  expect(namesTestFiles('{"scripts":{"test":"jest"},"jest":{"transform":{}}}')).toBe(false);
});
