import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { TestFleet, type TestWorker } from '../helpers/fleet.ts';

/** What setup installs: real npm, and a registry on loopback that counts what is fetched. */

let fleet: TestFleet;
let worker: TestWorker;
let registry: Server;
const fetched: string[] = [];
const tarballs = new Map<string, Buffer>();

const sh = (script: string) => ({ command: ['sh', '-c', script], protocol: 'none' as const });
const COMMIT = 'echo made > made.txt; git add made.txt; git commit -qm made';
/** As it was installed: its script ran here, in this tree. */
const SOUND =
  'node -e \'process.exit(require("one") === 1 && require("fs").readFileSync("node_modules/one/where.txt", "utf8") === process.cwd() ? 0 : 1)\' && test ! -e node_modules/more';
/** Changes what it found, and what npm would fetch from; what is kept it neither sees nor writes. */
const spoil = (kept: string) => `${SOUND} || exit 3
  ls '${kept}' && exit 4; mkdir -p '${kept}'; echo spoilt > '${kept}/more'
  echo 'module.exports = 2;' > node_modules/one/index.js; touch node_modules/more
  find ../home/.npm -type f | while read file; do echo spoilt > "$file"; done; ${COMMIT}`;

beforeAll(async () => {
  registry = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    fetched.push(name);
    const tarball = tarballs.get(name);
    response.writeHead(tarball ? 200 : 404).end(tarball);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => registry.once('listening', resolve));
  fleet = await TestFleet.start();
  worker = await fleet.worker('packages', {
    worker: { slots: 3 },
    network: { setup: [`127.0.0.1:${port()}`] },
    coders: {
      spoils: sh(spoil(`${fleet.root}/packages/packages`)),
      more: sh(`cp package-lock.more.json package-lock.json; cp package.more.json package.json; git commit -qam more`),
    },
  });
}, 120_000);
afterAll(async () => {
  await fleet[Symbol.asyncDispose]();
  registry.close();
});

const port = () => (registry.address() as AddressInfo).port;
const drain = async (input: Partial<TaskInput>): Promise<TaskReport> =>
  fleet.settled(await fleet.fleet.enqueue({ objective: 'Add made.txt', retry: { maxAttempts: 1 }, ...input }));

/** What a lock file says of a package that the registry then has. */
async function publish(name: string, files: Record<string, string>): Promise<object> {
  const dir = `${fleet.root}/${name}`;
  await mkdir(`${dir}/package`, { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(`${dir}/package/${path}`, text);
  execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: dir });
  const tarball = await readFile(`${dir}/package.tgz`);
  tarballs.set(`${name}.tgz`, tarball);
  return {
    version: '1.0.0',
    resolved: `http://127.0.0.1:${port()}/${name}.tgz`,
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    ...('postinstall.js' in files ? { hasInstallScript: true } : {}),
  };
}

const manifest = (of: object) => JSON.stringify({ name: 'a', version: '1.0.0', ...of });
const lockOf = (dependencies: object, packages: object) =>
  JSON.stringify({
    ...{ name: 'a', version: '1.0.0', lockfileVersion: 3, requires: true },
    packages: { '': { name: 'a', version: '1.0.0', dependencies }, ...packages },
  });

/** A package whose script says where it ran. */
const one = () =>
  publish('one', {
    'package.json': JSON.stringify({ name: 'one', version: '1.0.0', scripts: { postinstall: 'node postinstall.js' } }),
    'index.js': 'module.exports = 1;\n',
    'postinstall.js': "require('fs').writeFileSync('where.txt', process.env.INIT_CWD);\n",
  });

test('packages are fetched once for all trees, and no run changes what another finds', async () => {
  const packages = { 'node_modules/one': await one() };
  const dependencies = { one: '1.0.0' };
  const two = { 'node_modules/two': await publish('two', { 'package.json': '{"name":"two","version":"1.0.0"}' }) };
  const prepare = "node -e 'require(`fs`).writeFileSync(`prepared.txt`, `x`)'";
  const both = { ...dependencies, two: '1.0.0' };
  const repo = await fleet.repo('packages', {
    'package.json': manifest({ dependencies, scripts: { prepare } }),
    'package-lock.json': lockOf(dependencies, packages),
    'package.more.json': manifest({ dependencies: both, scripts: { prepare } }),
    'package-lock.more.json': lockOf(both, { ...packages, ...two }),
    '.gitignore': 'node_modules\nprepared.txt\n',
    '.fleet.yaml': 'setup: [npm ci]\n',
  });
  const verify = ['test -e prepared.txt', SOUND];
  const input = { repo, coder: 'spoils', verify };
  for (const report of await Promise.all([drain(input), drain(input)]))
    expect([report.state, report.message]).toEqual(['done', null]);
  expect(await drain(input)).toMatchObject({ state: 'done', verdict: { acceptance: true } });
  expect(fetched).toEqual(['one.tgz']);

  // A result with another lock file is tried with what that says.
  const more = { coder: 'more', verify: [...verify, 'test -d node_modules/two'] };
  const scope = { allow: ['package*.json'] };
  expect(await drain({ repo, ...more, scope })).toMatchObject({ state: 'done', verdict: { acceptance: true } });
  expect(fetched.toSorted()).toEqual(['one.tgz', 'one.tgz', 'two.tgz']);
  expect((await readdir(`${worker.home}/packages`)).filter((name) => !name.startsWith('.'))).toHaveLength(2);
}, 180_000);

test('what cannot be fetched is told by the command as it stands', async () => {
  const gone = { version: '1.0.0', resolved: `http://127.0.0.1:${port()}/gone.tgz`, integrity: 'sha512-AAAA' };
  const dependencies = { gone: '1.0.0' };
  const repo = await fleet.repo('gone', {
    'package.json': manifest({ dependencies }),
    'package-lock.json': lockOf(dependencies, { 'node_modules/gone': gone }),
    '.fleet.yaml': 'setup: [npm ci]\n',
  });
  const report = await drain({ repo, coder: 'spoils' });
  expect(report).toMatchObject({ state: 'parked', reason: 'setup-failed' });
  expect(report.message).toMatch(/^setup command `npm ci` ended with 1:[^]*404/);
}, 120_000);
