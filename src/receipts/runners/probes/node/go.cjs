/**
 * `go test` with its events on a pipe of ours: reports each test, prints what go would have printed.
 * Arguments: the real go, then its own.
 */
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const { hideProbes, openReport } = require('./report.cjs');

const SAID_MAX = 10_000;

const [go, ...args] = process.argv.slice(2);
const at = args[0] === '-C' ? 2 : args[0].startsWith('-C') ? 1 : 0;
const flags = args.slice(0, args.includes('-args') ? args.indexOf('-args') : undefined);
const isFlag = (name) => (flag) => new RegExp(`^--?(test\\.)?${name}(=(?!false$|0$).*)?$`).test(flag);
const asked = (name) => flags.some(isFlag(name));

const runs = args[at] === 'test' && !['c', 'n', 'h', 'help', 'list'].some(asked);
if (runs) watch();
else end(spawn(go, args, { stdio: 'inherit' }));

function watch() {
  const [json, verbose] = [asked('json'), asked('v')];
  // With -v, go takes what a test prints for its own word.
  const own = [...flags.filter((flag) => !isFlag('v')(flag)), ...args.slice(flags.length)];
  const argv = json ? own : [...own.slice(0, at + 1), '-json', ...own.slice(at + 1)];
  const report = openReport('go test');
  const child = spawn(go, argv, { stdio: ['inherit', 'pipe', 'inherit'], env: hideProbes({ ...process.env }) });
  const running = new Map();
  const tested = new Set();
  const outputs = new Map();
  // What a build said, by what was built.
  const builds = new Map();
  createInterface({ input: child.stdout, crlfDelay: Infinity })
    .on('line', (line) => {
      const event = parse(line);
      if (event) record(event);
      if (json || !event) process.stdout.write(`${line}\n`);
      else print(event);
    })
    // What began and has no end, as its process was ended.
    .on('close', () => running.forEach(({ name }) => report({ name, status: 'failed' })));
  end(child);

  function record({ Action, Package, Test, Output, ImportPath, FailedBuild }) {
    if (Action === 'build-output') return add(builds, ImportPath, Output);
    if (!Test) return packageEnds({ Action, Package, Output, FailedBuild });
    const key = `${Package}\0${Test}`;
    const name = [Package, Test];
    // What a package prints before its first test, go takes for its own word: that ends no test that never began.
    if (Action !== 'run' && !running.has(key)) return undefined;
    tested.add(Package);
    if (Action === 'run') running.set(key, { name, output: [], said: '' });
    if (Action === 'run' || Action === 'cont') report.now({ name });
    const test = running.get(key);
    if (test && Output !== undefined && !/^\s*(===|---) /.test(Output))
      test.said = (test.said + Output).slice(-SAID_MAX);
    const status = { pass: 'passed', fail: 'failed', skip: 'skipped' }[Action];
    if (!status) return;
    report({ name, status, said: test?.said.trimEnd() || undefined });
    if (status === 'failed' && !json && !verbose) process.stdout.write(running.get(key)?.output.join('') ?? '');
    running.delete(key);
    report.now([...running.values()].at(-1) ?? null);
  }

  /** One that cannot be built stands for its tests, and so does one that ended before any of them. */
  function packageEnds({ Action, Package, Output, FailedBuild }) {
    if (Output !== undefined) add(outputs, Package, Output);
    if (tested.has(Package) || (Action !== 'pass' && Action !== 'fail')) return;
    const unasked = /no tests to run/.test(outputs.get(Package) ?? '');
    const said = builds.get(FailedBuild) ?? outputs.get(Package);
    if (Action === 'fail' || !unasked)
      report({ name: [Package], status: Action === 'fail' ? 'failed' : 'skipped', fixture: true, said });
  }

  function print({ Action, Package, Test, Output }) {
    if (Output === undefined || (Action !== 'output' && Action !== 'build-output')) return;
    const output = running.get(`${Package}\0${Test}`)?.output;
    if (verbose || !Test) {
      if (verbose || Output !== 'PASS\n') process.stdout.write(Output);
    } else if (output && !Output.startsWith('=== ')) output.push(Output);
  }
}

const add = (texts, key, text) => texts.set(key, `${texts.get(key) ?? ''}${text}`.slice(-SAID_MAX));

function parse(line) {
  if (!line.startsWith('{')) return undefined;
  try {
    const event = JSON.parse(line);
    return typeof event.Action === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
}

function end(child) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', ({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exitCode = 127;
  });
  child.on('close', (code) => (process.exitCode = code ?? 1));
}
