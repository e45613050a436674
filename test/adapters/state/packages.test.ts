import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  keepPackages,
  keptPackages,
  layPackages,
  readPackages,
  releasePackages,
  type InstallFolders,
} from '../../../src/adapters/state/packages.ts';
import { npmInstallOf } from '../../../src/domain/repository/npm-install.ts';

let dir: string;
const at = (path: string) => join(dir, path);
const store = () => at('packages');
const PATH = process.env['PATH'] ?? '';
const { signal } = new AbortController();

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }
}

/** A project with one package and a workspace. */
function project(tree: string, more: Record<string, string> = {}): void {
  const packages = { '': {}, 'node_modules/a': {}, 'packages/web': {} };
  const files = {
    'package-lock.json': JSON.stringify({ lockfileVersion: 3, packages }),
    'package.json': '{"workspaces":["packages/*"]}',
    'packages/web/package.json': '{}',
    ...more,
  };
  write(Object.fromEntries(Object.entries(files).map(([path, text]) => [`${tree}/${path}`, text])));
}

const read = (tree: string, command = 'npm ci') => readPackages(at(tree), npmInstallOf(command)!, PATH);

/** In the place of npm. */
const install = ({ tree, home }: InstallFolders) => {
  mkdirSync(`${tree}/node_modules/a`, { recursive: true });
  writeFileSync(`${tree}/node_modules/a/index.js`, 'one');
  mkdirSync(`${tree}/packages/web/node_modules`);
  symlinkSync('../../../node_modules/a', `${tree}/packages/web/node_modules/a`);
  mkdirSync(`${home}/.npm/_cacache`, { recursive: true });
  writeFileSync(`${home}/.npm/_cacache/a`, 'fetched');
  return Promise.resolve(true);
};
const home = (name: string) => (mkdirSync(at(name), { recursive: true }), at(name));

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fleet-packages-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('what packages are made of', () => {
  test('is the same in every tree, whatever else is in it', async () => {
    project('one');
    project('two', { 'src/a.js': 'other' });
    const [one, two] = [await read('one'), await read('two')];
    expect(one?.key).toMatch(/^[0-9a-f]{64}$/);
    expect(two).toEqual(one);
    expect([...one!.files.keys()]).toEqual(['package-lock.json', 'package.json', 'packages/web/package.json']);
  });

  test.each([
    ['its manifest', { 'package.json': '{"workspaces":["packages/*"],"overrides":{}}' }],
    ["a workspace's", { 'packages/web/package.json': '{"dependencies":{}}' }],
    ['its settings', { '.npmrc': 'legacy-peer-deps=true\n' }],
  ])('is another by %s', async (_, more) => {
    project('one');
    project('two', more);
    expect((await read('two'))?.key).not.toBe((await read('one'))!.key);
  });

  test('is another by its options and its programs', async () => {
    project('one');
    write({ 'bin/npm': '#!/bin/sh\n' });
    const keys = [await read('one'), await read('one', 'npm ci --omit=dev')].map((one) => one?.key);
    const other = await readPackages(at('one'), npmInstallOf('npm ci')!, `${at('bin')}:${PATH}`);
    expect(new Set([...keys, other?.key]).size).toBe(3);
  });

  test.each([
    ['a lock file', { 'package-lock.json': '{}' }],
    ['plain settings', { '.npmrc': 'node-options=--require ./x.js\n' }],
    ['room for its packages', { 'packages/web/node_modules/a/index.js': 'mine' }],
    ['an end', { 'package.json': `{"a":"${'a'.repeat(33 * 1024 * 1024)}"}` }],
    ['nothing to build', { 'binding.gyp': '{}' }],
  ])('is not known without %s', async (_, more) => {
    project('one', more);
    expect(await read('one')).toBeUndefined();
  });

  test('is not known where a link or a workspace of another project stands in the way', async () => {
    project('elsewhere');
    mkdirSync(at('one'));
    symlinkSync(at('elsewhere'), at('one/web'));
    expect(await read('one', 'cd web && npm ci')).toBeUndefined();
    project('two');
    for (const name of ['package.json', 'package-lock.json'])
      write({ [`two/packages/web/${name}`]: readFileSync(at(`elsewhere/${name}`), 'utf8') });
    write({ 'two/packages/web/packages/web/package.json': '{}' });
    expect(await read('two', 'cd packages/web && npm ci')).toBeUndefined();
    rmSync(at('two/package.json'));
    expect(await read('two', 'cd packages/web && npm ci')).toMatchObject({ folder: 'packages/web' });
  });
});

describe('what is kept', () => {
  test('is made once, and copied: what one tree makes of it is not what another finds', async () => {
    for (const tree of ['one', 'two', 'three']) project(tree);
    const packages = (await read('one'))!;
    let made = 0;
    const make = (folders: InstallFolders) => {
      made += 1;
      expect(readdirSync(folders.tree).toSorted()).toEqual(['package-lock.json', 'package.json', 'packages']);
      return install(folders);
    };
    const both = await Promise.all([keepPackages(store(), packages, make), keepPackages(store(), packages, make)]);
    expect(both).toEqual([join(store(), packages.key), join(store(), packages.key)]);
    const lay = (tree: string) =>
      layPackages(both[0]!, packages, { tree: at(tree), home: home(`${tree}-home`), signal });
    expect(await lay('one')).toBe(true);
    writeFileSync(at('one/node_modules/a/index.js'), 'spoilt');
    writeFileSync(at('one-home/.npm/_cacache/a'), 'spoilt');
    expect(await lay('two')).toBe(true);
    expect(readFileSync(at('two/packages/web/node_modules/a/index.js'), 'utf8')).toBe('one');
    expect(readFileSync(at('two-home/.npm/_cacache/a'), 'utf8')).toBe('fetched');
    expect(await keepPackages(store(), packages, make)).toBe(both[0]);
    expect(made).toBe(1);
    expect(readdirSync(`${both[0]}/tree`).toSorted()).toEqual(['node_modules', 'packages']);
    // A link that was put there meanwhile leads out of no tree.
    rmSync(at('three/packages/web'), { recursive: true });
    symlinkSync(at('one'), at('three/packages/web'));
    expect(await lay('three')).toBe(false);
    expect(existsSync(at('three/node_modules'))).toBe(false);
  });

  test('is nothing where it could not be made, which is not tried again at once', async () => {
    project('one');
    const packages = (await read('one'))!;
    let tried = 0;
    const make = () => ((tried += 1), Promise.resolve(false));
    expect(await keepPackages(store(), packages, make)).toBeUndefined();
    expect(await keepPackages(store(), packages, make)).toBeUndefined();
    expect([tried, readdirSync(store())]).toEqual([1, []]);
  });

  test('one that is cancelled leaves nothing, and keeps nobody from trying', async () => {
    project('one');
    const packages = (await read('one'))!;
    const cancelled = () => Promise.reject(new Error('cancelled'));
    const both = [keepPackages(store(), packages, cancelled), keepPackages(store(), packages, install)];
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(readdirSync(store())).toEqual([]);
    expect(await keepPackages(store(), packages, install)).toBe(join(store(), packages.key));
  });

  test('goes when it was not used for a week, or others were later', async () => {
    const now = Date.now() / 1_000;
    const ages = [0, 1, 2, 3, 4, 8 * 24].map((hours) => [`key-${hours}h`, now - hours * 3_600] as const);
    for (const [key, usedAt] of ages) {
      write({ [`packages/${key}/tree/a`]: '' });
      utimesSync(join(store(), key), usedAt, usedAt);
    }
    write({ 'packages/key-0h.making-of-a-killed-process/tree/a': '' });
    await releasePackages(store());
    const kept = (await keptPackages(store())).map(({ key }) => key).toSorted();
    expect(kept).toEqual(['key-0h', 'key-1h', 'key-2h', 'key-3h']);
    expect(readdirSync(store()).toSorted()).toEqual(['.trash', ...kept]);
  });
});
