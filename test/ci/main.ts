import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { Lanes, summary } from './lanes.ts';

/** All suites, for `.ci/run`, which may take 5,400 s. CI_ELAPSED_S: seconds that it took before this began. */
const lanes = new Lanes({ start: 4400, retry: 4900, end: 5200 }, console.log, Number(process.env['CI_ELAPSED_S'] ?? 0));
const suites = ['attacks', 'e2e', 'queue', 'long', 'corpus', 'agents'];
const faults = readdirSync('test/faults').filter((file) => file.endsWith('.test.ts'));

const sum = await lanes.run([
  // These fill the cores,
  [lanes.suite('unit', 'jest.config.js'), ...suites.map((name) => lanes.suite(name, `test/${name}/jest.config.js`))],
  // and the tests of these wait most of their time.
  [
    ...faults.map((file) =>
      lanes.suite(`faults/${basename(file, '.test.ts')}`, 'test/faults/jest.config.js', `test/faults/${file}`),
    ),
    lanes.command('chaos', ['npx', 'tsx', 'test/chaos/main.ts', '--seed', '20261121', '--minutes', '2']),
  ],
]);
console.log(`== ${lanes.elapsedS()} s`);
console.log(summary(sum).join('\n'));
process.exitCode = sum.failed.length === 0 && sum.passed > 0 ? 0 : 1;
