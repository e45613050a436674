/** Reporter of jest: the tests of a file when it ended. */
// An expected failure (`failing`) is no evidence.
const STATUS = { passed: 'passed', failed: 'failed' };

const KEY = Symbol.for('fleet.jest');
const report = globalThis[KEY];
delete globalThis[KEY];

module.exports = class FleetReporter {
  onRunStart() {
    report?.run('begins');
  }

  onTestResult(test, result) {
    const { displayName } = test.context.config;
    const project = displayName?.name ?? displayName;
    for (const { ancestorTitles, title, status, failing } of result.testResults) {
      const name = [...(project ? [project] : []), ...ancestorTitles, title];
      report?.({ name, file: result.testFilePath, status: (!failing && STATUS[status]) || 'skipped' });
    }
  }

  onRunComplete() {
    report?.run('ends');
  }
};
