import { expect, test } from '@jest/globals';
import { selects } from '../../../src/receipts/author/selection.ts';

test.each([
  'pytest -k fast',
  'python3 -m pytest -m "not slow"',
  'pytest tests/test_a.py::test_one',
  'pytest --deselect tests/test_a.py',
  'addopts = -m "not slow"',
  'go test -run TestOne ./...',
  'go test ./... -test.skip=TestOne',
  'node --test --test-name-pattern=one',
  'npx jest -t one',
  'npx mocha --grep one',
  'npx vitest --shard 1/2',
  'cargo test one',
  'cargo test -p calc -- --skip one',
  'mvn test -Dtest=One',
  'python -m unittest tests.test_a.TestB',
  'python3 -m unittest -v test_a.TestB.test_c',
])('%s runs some tests only', (command) => expect(selects(command)).toBe(true));

test.each([
  'pytest -q',
  'python3 -m pytest -q -p no:cacheprovider',
  'python -m pytest tests',
  'go test ./...',
  'go run ./cmd && go test -race ./...',
  'node --test',
  'npm test',
  'npm run test',
  'npx jest --ci',
  'npx vitest --run',
  'npx mocha',
  'cargo test --offline --quiet',
  'cargo test -p calc -- --test-threads=1 --nocapture',
  'mvn -q test',
  'python -m unittest pkg.tests.test_a',
  'python -m unittest discover -s tests -t .',
])('%s runs all', (command) => expect(selects(command)).toBe(false));
