/**
 * The report of one test run: a file of its own in the trial's private folder, a JSON value a line. The first says that the runner
 * ran, `{ runner, run }` that a run of it 'begins' or 'ends'; each other is one test: `{ runner, name: string[], file?: absolute path,
 * status, fixture?: true, said? }`, `fixture` for what stands in the place of tests: a file, a package, a hook; `said` is what a
 * failed one said, 4,000 characters at most. Beside it a file of its name with `.now`, of one size, holds the test that runs.
 */
const { openSync, readFileSync, writeSync } = require('node:fs');
const { join } = require('node:path');
const { inspect, stripVTControlCharacters } = require('node:util');

// Kept here, so that code under test that replaces these functions changes no report.
const { stringify } = JSON;
const HOME = join(__dirname, '..', '..');
const SAID_MAX = 4_000;
const VALUE_MAX = 300;
const NOW_BYTES = 4_096;

/**
 * A function that writes a test, `run` for begin and end, and `now` for the test that runs, null for none: at once, as the process
 * may be ended by the code under test.
 */
exports.openReport = (runner) => {
  // Every node process of a trial loads this file: what only a runner needs is loaded for one.
  const { randomBytes } = require('node:crypto');
  const name = `${runner.replace(/\W/g, '-')}-${process.pid}-${randomBytes(6).toString('hex')}`;
  const file = openSync(join(HOME, 'reports', `${name}.jsonl`), 'ax');
  let running;
  const write = (value) => {
    try {
      writeSync(file, `${stringify(value)}\n`);
    } catch {}
  };
  write({ runner });
  const report = ({ name, file, status, fixture, said }) =>
    write({ runner, name, file, status, fixture, said: status === 'failed' ? said?.slice(0, SAID_MAX) : undefined });
  const now = (test) => {
    try {
      running ??= openSync(join(HOME, 'reports', `${name}.now`), 'wx');
      const text = test ? stringify({ runner, name: test.name, file: test.file }) : '';
      // What is too long to be kept whole is kept not at all.
      if (Buffer.byteLength(text) <= NOW_BYTES)
        writeSync(running, text + ' '.repeat(NOW_BYTES - Buffer.byteLength(text)), 0);
    } catch {}
  };
  return Object.assign(report, { run: (run) => write({ runner, run }), now });
};

/** What an error says, with what was expected and what came where it has them apart, and its first place in the project. */
exports.saidBy = (error) => {
  try {
    if (typeof error !== 'object' || error === null) return String(error);
    const { message, diff, stack } = error;
    const place = /^\s*at (?!.*(?:\bnode:|[\\/]node_modules[\\/])).*$/m.exec(String(stack ?? ''))?.[0].trim();
    const values = ['expected', 'actual'].filter((key) => key in error).map((key) => `${key}: ${shown(error[key])}`);
    const lines = [String(message ?? error).trim(), ...(typeof diff === 'string' ? [diff] : values), place];
    return stripVTControlCharacters(lines.filter(Boolean).join('\n'));
  } catch {
    return undefined;
  }
};

/** No code of the value's own runs. */
function shown(value) {
  const text = inspect(value, { customInspect: false, depth: 3, maxArrayLength: 20, maxStringLength: VALUE_MAX });
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}

/** The environment without what watches: a test run that a test starts is no test of the project. */
exports.hideProbes = (env) => {
  const [preload, reporter] = readFileSync(join(HOME, 'settings'), 'utf8').split('\n');
  const set = (key, value) => (value ? (env[key] = value) : delete env[key]);
  const entries = (key) =>
    set(
      key,
      env[key]
        .split(':')
        .filter((entry) => !entry.startsWith(HOME))
        .join(':'),
    );
  if (env.NODE_OPTIONS) set('NODE_OPTIONS', env.NODE_OPTIONS.replace(preload, '').replace(reporter, '').trim());
  for (const key of ['PATH', 'PYTHONPATH']) if (env[key]) entries(key);
  for (const key of Object.keys(env))
    if (/^CARGO_TARGET_.*_RUNNER$/.test(key) && env[key].startsWith(HOME)) delete env[key];
  return env;
};
