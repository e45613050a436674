import { describe, expect, test } from '@jest/globals';
import {
  hasWorkspaces,
  isPlainNpmrc,
  npmInstallOf,
  readLock,
  restOf,
} from '../../../src/domain/repository/npm-install.ts';

describe('a setup command that only installs', () => {
  test.each([
    ['npm ci', { folder: '', options: '', scripts: true }],
    [' npm install ', { folder: '', options: '', scripts: true }],
    ['npm ci --no-audit --omit=dev', { folder: '', options: ' --no-audit --omit=dev', scripts: true }],
    ['npm ci --ignore-scripts', { folder: '', options: ' --ignore-scripts', scripts: false }],
    ['cd ./packages/web && npm ci', { folder: 'packages/web', options: '', scripts: true }],
  ])('%s', (command, install) => expect(npmInstallOf(command)).toEqual(install));

  test.each([
    ...['npm ci && npm run build', 'npm install left-pad', 'npm ci -g', 'npm ci --prefix ../other', 'npm ci > log'],
    ...['cd .. && npm ci', 'cd web/../.. && npm ci', 'cd /srv && npm ci', 'cd -P && npm ci', 'cd $X && npm ci', 'npm'],
    ...['sudo npm ci', 'NODE_ENV=production npm ci', 'npm ci\nmake', 'pnpm install', ''],
  ])('not %j', (command) => expect(npmInstallOf(command)).toBeUndefined());
});

const lock = (packages: object) => JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } });

describe('a lock file', () => {
  test('its projects, and whether some package has a script on this platform', () => {
    const packages = {
      'node_modules/a': { resolved: 'https://registry.example/a.tgz' },
      'node_modules/web': { resolved: 'packages/web', link: true },
      'packages/web': {},
      'packages/web/node_modules/b': {},
      'node_modules/fsevents': { hasInstallScript: true, os: ['darwin'] },
      'node_modules/other': { hasInstallScript: true, os: ['!linux'] },
    };
    expect(readLock(lock(packages), 'linux')).toEqual({ projects: ['', 'packages/web'], hasScripts: false });
    expect(readLock(lock(packages), 'darwin')).toMatchObject({ hasScripts: true });
    expect(readLock(lock({ 'node_modules/c': { hasInstallScript: true } }), 'linux')).toMatchObject({
      hasScripts: true,
    });
  });

  test.each([
    ['of npm before 7', '{"lockfileVersion":1,"dependencies":{}}'],
    ['that is none', '<<<<<<< ours'],
    ['with a package that is a file of the repository', lock({ 'node_modules/a': { resolved: 'file:vendor/a.tgz' } })],
    ['with a project that lies outside', lock({ '../a': {} })],
  ])('%s is left to npm', (_, text) => expect(readLock(text, 'linux')).toBeUndefined());
});

describe('what is left to do in the tree', () => {
  const rest = (manifests: Record<string, object>, { scripts = true, hasScripts = false } = {}) =>
    restOf(
      { scripts },
      { hasScripts },
      new Map(Object.entries(manifests).map(([at, one]) => [at, JSON.stringify(one)])),
    );

  test.each([
    ['nothing', { '': { scripts: { test: 'x' } } }, {}, []],
    ["the packages' scripts", { '': {} }, { hasScripts: true }, ['npm rebuild']],
    [
      "the project's own",
      { '': { scripts: { prepare: 'husky', postinstall: 'x' } } },
      {},
      ['npm run postinstall', 'npm run prepare'],
    ],
    ['programs of workspaces', { '': {}, web: { bin: 'a.js' } }, {}, ['npm rebuild']],
    [
      'without scripts',
      { '': { scripts: { install: 'x' } }, web: { bin: 'a.js' } },
      { scripts: false, hasScripts: true },
      ['npm rebuild --ignore-scripts'],
    ],
  ])('%s', (_, manifests, how, commands) => expect(rest(manifests, how)).toEqual(commands));

  test.each([
    ['a script before the packages are there', { '': { scripts: { preinstall: 'x' } } }],
    ['a build of its own', { '': { scripts: { install: 'x' } } }],
    ['a script of a workspace', { '': {}, web: { scripts: { prepare: 'x' } } }],
  ])('%s is left to npm', (_, manifests) => expect(rest(manifests)).toBeUndefined());
});

test('workspaces, and settings that make more of an install', () => {
  expect(hasWorkspaces('{"workspaces":["a"]}')).toBe(true);
  expect(hasWorkspaces('{"name":"a"}')).toBe(false);
  expect(isPlainNpmrc('registry=https://registry.example/\nfund=false\n')).toBe(true);
  for (const line of [
    'node-options=--require ./x.js',
    ' script-shell = ./sh',
    'ignore-scripts=true',
    'install-links=true',
  ])
    expect(isPlainNpmrc(`fund=false\n${line}\n`)).toBe(false);
});
