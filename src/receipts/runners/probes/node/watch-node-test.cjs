/**
 * `node --test` takes its reporters from the command line alone, and refuses a number of them other than that of destinations:
 * the process starts itself again with one more.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { hideProbes, openReport } = require('./report.cjs');

const count = (words, option) => words.filter((word) => word === option || word.startsWith(`${option}=`)).length;

const env = hideProbes({ ...process.env });
const asked = [...(env.NODE_OPTIONS ?? '').split(/\s+/), ...process.execArgv];
const reporters = count(asked, '--test-reporter');
const destinations = count(asked, '--test-reporter-destination');

if (process.execArgv.includes('--test')) {
  const { spawnSync } = require('node:child_process');
  // Now, as node asks no reporter where it finds no test file.
  openReport('node:test');
  const reporter = `--test-reporter=${pathToFileURL(join(__dirname, 'node-test.mjs')).href}`;
  const add =
    reporters === 0
      ? [reporter, '--test-reporter-destination=stdout']
      : [
          ...(reporters === 1 && destinations === 0 ? ['--test-reporter-destination=stdout'] : []),
          ...[`${reporter}?silent`, '--test-reporter-destination=stderr'],
        ];
  const argv = [...process.execArgv, ...add, ...process.argv.slice(1)];
  const { status } = spawnSync(process.execPath, argv, { stdio: 'inherit', env });
  process.exit(status ?? 1);
}

// The shim gave the reporter to this process alone: another may bring reporters of its own.
const [, reporter] = readFileSync(join(__dirname, '..', '..', 'settings'), 'utf8').split('\n');
if (process.env.NODE_OPTIONS) process.env.NODE_OPTIONS = process.env.NODE_OPTIONS.replace(reporter, '').trim();
