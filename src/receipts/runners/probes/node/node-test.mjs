/** Reporter of node's test runner: prints what node would have printed without it, and reports each test. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { resolve } from 'node:path';
import { spec, tap } from 'node:test/reporters';

const { openReport, hideProbes, saidBy } = createRequire(import.meta.url)('./report.cjs');

const STDERR_MAX = 4_000;

const silent = new URL(import.meta.url).search === '?silent';
const report = openReport('node:test');
// At once: a program of tests may end before a single event is read.
report.run('begins');
// A test file that node runs directly is only known for one now.
hideProbes(process.env);

/** node's own choice where no reporter is named. */
const usual = process.stdout.isTTY || Number(process.versions.node.split('.')[0]) >= 23 ? 'spec' : 'tap';

export default async function* (source) {
  if (silent) for await (const _ of recorded(source));
  else if (usual === 'tap') yield* tap(recorded(source));
  else yield* Readable.from(recorded(source)).compose(new spec());
}

async function* recorded(source) {
  // The names from the outermost suite to the test that started last.
  const path = [];
  let open = 0;
  // What has begun and not ended, a file before the tests in it.
  const running = new Map();
  // What a file that cannot be loaded says, it says on stderr.
  const stderr = new Map();
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:start') path.splice(data.nesting, Infinity, data.name);
    if (type === 'test:enqueue' && !isFile(data)) open += 1;
    if (type === 'test:dequeue' || type === 'test:start') running.set(keyOf(data), data);
    if (type === 'test:pass' || type === 'test:fail') running.delete(keyOf(data));
    if (/^test:(dequeue|start|pass|fail)$/.test(type)) report.now(innermost(running));
    if (type === 'test:stderr')
      stderr.set(data.file, `${stderr.get(data.file) ?? ''}${data.message}`.slice(-STDERR_MAX));
    if (type === 'test:pass' || type === 'test:fail') {
      const name = [...path.slice(0, data.nesting), data.name];
      const { file, details } = data;
      if (isFile(data))
        report({ name: [file], file, status: statusOfFile(type, data), fixture: true, said: stderr.get(file) });
      else open -= 1;
      if (!isFile(data) && details?.type !== 'suite')
        report({ name, file, status: statusOf(type, data), said: saidBy(details?.error?.cause ?? details?.error) });
    }
    yield event;
  }
  // A file that ends its process loses the tests behind that.
  if (open <= 0) report.run('ends');
}

const keyOf = ({ nesting, name, file, line, column }) => [nesting, name, file, line, column].join('\0');

/** The deepest of those that began last. */
function innermost(running) {
  const all = [...running.values()];
  const deepest = all.reduce((most, { nesting }) => Math.max(most, nesting), 0);
  const last =
    all.findLast(({ nesting, ...rest }) => nesting === deepest && !isFile({ nesting, ...rest })) ?? all.at(-1);
  return last ? { name: [last.name], file: last.file } : null;
}

/** A file without any test, or that ended its process early, is reported as a test with its name. */
const isFile = ({ nesting, name, file }) => nesting === 0 && file !== undefined && resolve(name) === resolve(file);

/** A script that only asserts is a test by its exit code. One that has tests, and none was run, shows nothing. */
const statusOfFile = (type, data) => (type === 'test:pass' && hasTests(data.file) ? 'skipped' : statusOf(type, data));

function hasTests(file) {
  try {
    return readFileSync(file, 'utf8').includes('node:test');
  } catch {
    return true;
  }
}

/** A mark that keeps a failure from counting makes a test one that was not run. */
const statusOf = (type, { skip, todo, expectFailure }) =>
  [skip, todo, expectFailure].some((mark) => mark !== undefined && mark !== false)
    ? 'skipped'
    : type === 'test:pass'
      ? 'passed'
      : 'failed';
