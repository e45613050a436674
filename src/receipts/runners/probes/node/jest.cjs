/** Reporter of jest: the tests of a file when it ended. */
const { stripVTControlCharacters } = require('node:util');

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
    const file = result.testFilePath;
    const named = (...parts) => [...(project ? [project] : []), ...parts];
    for (const { ancestorTitles, title, status, failing, failureMessages } of result.testResults) {
      const said = failureMessages?.map(plain).join('\n');
      report?.({
        name: named(...ancestorTitles, title),
        file,
        status: (!failing && STATUS[status]) || 'skipped',
        said,
      });
    }
    // It could not be loaded.
    if (result.testExecError && result.testResults.length === 0)
      report?.({ name: named(file), file, status: 'failed', fixture: true, said: plain(result.failureMessage ?? '') });
  }

  onRunComplete() {
    report?.run('ends');
  }
};

/** Without colours, and of its stack the first place in the project. */
function plain(message) {
  const lines = stripVTControlCharacters(message).split('\n');
  const isFrame = (line) => /^\s+at /.test(line);
  const place = lines.find((line) => isFrame(line) && !/[\\/]node_modules[\\/]|\bnode:/.test(line));
  return lines.filter((line) => !isFrame(line) || line === place).join('\n');
}
