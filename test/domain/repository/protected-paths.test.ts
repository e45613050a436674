import { describe, expect, test } from '@jest/globals';
import { matches } from '../../../src/adapters/glob.ts';
import { DEFAULT_RESTORE } from '../../../src/domain/repository/protected-paths.ts';

const isTest = matches(DEFAULT_RESTORE.flatMap(({ tests }) => [...tests]));
const isConfig = matches(DEFAULT_RESTORE.flatMap(({ config }) => [...config]));
const asInBase = (path: string) => isTest(path) || isConfig(path);

describe('by default, as in the base', () => {
  test.each([
    ...['polls/tests.py', 'tests.py', 'tests/test_a.py', 'a/Tests/all.py', 'Test/a.php'],
    ...['src/tests.rs', 'src/a/test.rs', 'src/a_tests.rs', 'crates/a/tests/b.rs', 'src/parser_test.rs'],
    ...['src/commonTest/kotlin/A.kt', 'a/src/integrationTest/java/A.java', 'src/test/java/A.java'],
    ...['fixtures/cases.json', 'a/__fixtures__/b.html', 'pkg/golden/out.txt', 'a/testdata/b', 'src/a.test.ts'],
  ])('the test %s', (path) => expect(isTest(path)).toBe(true));

  test.each([
    ...['jest.unit.config.js', 'web/vitest.browser.config.mts', 'playwright.ci.config.ts', 'jest.config.js'],
    ...['jest-setup.js', 'vitest_setup.ts', 'setup-tests.ts', 'vitest.setup.ts', 'src/setupTests.js'],
    ...['vendor/modules.txt', 'a/vendor/example.com/b/c.go', 'go.mod'],
    ...[
      'src/test/resources/junit-platform.properties',
      'src/main/resources/META-INF/services/org.junit.platform.launcher.X',
    ],
  ])('the configuration %s', (path) => expect(isConfig(path)).toBe(true));

  test.each([
    ...['src/latest.rs', 'contests.py', 'src/protest/a.py', 'src/attests.rs', 'src/testing.rs', 'mytests.py'],
    ...['src/fixture.ts', 'src/fixtures.ts', 'src/goldenrod/a.js', 'src/latest/java/A.java', 'src/Test.tsx'],
    ...['src/vendor.js', 'vendors/a.js', 'jest/index.js', 'src/setup.ts', 'webpack.unit.config.js'],
    ...['src/main/resources/META-INF/services/com.example.Spi', 'src/config.js', 'README.md'],
  ])('not %s', (path) => expect(asInBase(path)).toBe(false));
});
