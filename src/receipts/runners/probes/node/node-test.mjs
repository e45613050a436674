/** Reporter of node's test runner: prints what node would have printed without it, and reports each test. */
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { resolve } from 'node:path';
import { spec, tap } from 'node:test/reporters';

const { openReport, hideProbes } = createRequire(import.meta.url)('./report.cjs');

const silent = new URL(import.meta.url).search === '?silent';
const report = openReport('node:test');
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
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:start') path.splice(data.nesting, Infinity, data.name);
    if (type === 'test:pass' || type === 'test:fail') {
      const name = [...path.slice(0, data.nesting), data.name];
      if (isTest(data)) report({ name, file: data.file, status: statusOf(type, data) });
    }
    yield event;
  }
}

/** A file without any test, or that ended its process early, is reported as a test with its name. */
const isTest = ({ details, nesting, name, file }) =>
  details?.type !== 'suite' && !(nesting === 0 && file !== undefined && resolve(name) === resolve(file));

/** A mark that keeps a failure from counting makes a test one that was not run. */
const statusOf = (type, { skip, todo, expectFailure }) =>
  [skip, todo, expectFailure].some((mark) => mark !== undefined && mark !== false)
    ? 'skipped'
    : type === 'test:pass'
      ? 'passed'
      : 'failed';
