import { readFile, writeFile, mkdir, stat, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { expect, test } from '@jest/globals';
import { machineName, setConfig, showConfig } from '../src/adapters/state/config-file.ts';
import {
  CODER_KEYS,
  CONFIG_KEYS,
  CREDENTIAL_KEYS,
  leaseOf,
  loadConfig,
  resolveHome,
  type Layers,
} from '../src/config.ts';
import { FleetError } from '../src/domain/error.ts';
import { tempDir } from './helpers/temp.ts';

const load = async (yaml: string, rest: Partial<Layers> = {}) => {
  await using temp = await tempDir();
  await writeFile(`${temp.path}/config.yaml`, yaml);
  return loadConfig({ home: temp.path, env: {}, ...rest });
};

/** The one sentence, with the file's folder cut off, as it differs. */
const refusal = async (yaml: string, rest: Partial<Layers> = {}): Promise<string> => {
  const error: unknown = await load(yaml, rest).then(
    () => 'accepted',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(FleetError);
  expect((error as FleetError).exitCode).toBe(2);
  expect((error as FleetError).message).not.toContain('\n');
  return (error as FleetError).message.replace(/^\S*\/config\.yaml/, 'config.yaml');
};

test('nothing given: the defaults', async () => {
  await using temp = await tempDir();
  const config = loadConfig({ home: temp.path, env: {} });
  expect(config).toMatchObject({
    worker: { slots: 2, queues: ['fleet'], isolation: 'auto' },
    queues: [],
    coders: {},
    limits: {},
  });
  expect(config.worker.name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/);
  expect(leaseOf(config)).toEqual({ heartbeatMs: 12_000, graceMs: 40_000, selfKillMs: 30_000 });
  expect(config.git).toEqual({ name: 'Infinity Fleet', email: 'fleet@localhost' });
});

test('defaults < file < environment < flags, key by key', async () => {
  const yaml = 'worker: { name: file, slots: 3, queues: [a] }\ngit: { name: File }\n';
  const env = {
    FLEET_WORKER_SLOTS: '4',
    FLEET_WORKER_QUEUES: 'b, c',
    FLEET_LEASE_SELF_KILL: '20s',
    FLEET_LIMITS_COST_USD: '1.5',
    FLEET_MACHINE: '',
  };
  const config = await load(yaml, { env, flags: { worker: { slots: 5, name: undefined } } });
  expect(config.worker).toMatchObject({ name: 'file', slots: 5, queues: ['b', 'c'], isolation: 'auto' });
  expect(config).toMatchObject({
    lease: { selfKill: '20s', grace: '40s' },
    limits: { costUsd: 1.5 },
    git: { name: 'File' },
  });
  expect(config.machine).toBeUndefined();
});

test('an empty file, comments alone and keys with nothing behind them mean the defaults', async () => {
  for (const yaml of ['', '# nothing yet\n', 'worker:\nlease:\n', '---\n'])
    expect((await load(yaml)).worker.slots).toBe(2);
});

test.each([
  [
    'worker:\n  slots: 2\n  slotz: 3\n',
    'config.yaml:3: worker.slotz is not a known field (known in worker: name, slots, queues, isolation, coder, checkpoint, onTerm, env)',
  ],
  [
    '# c\nwerker: {}\n',
    /^config\.yaml:2: werker is not a known field \(known here: worker, sandbox, network, disk, keep, secrets, links, queues, machine, coders, /,
  ],
  ['worker:\n  slots: 501\n', /^config\.yaml:2: worker\.slots .*500/],
  ['worker:\n  slots: 0\n', 'config.yaml:2: worker.slots must be at least 1'],
  ['worker:\n  slots: many\n', /^config\.yaml:2: worker\.slots .*number/],
  ['worker:\n  queues:\n    - ok\n    - no/good\n', /^config\.yaml:4: worker\.queues\[1\] must be letters/],
  ['worker: 3\n', /^config\.yaml:1: worker /],
  ['limits:\n  idle: soon\n', 'config.yaml:2: limits.idle must be a duration such as 90s, 10m or 2h'],
  ['git: {}\nlimits:\n  idle: 3h\n', 'config.yaml:2: limits must have total above idle: 2h is not more than 3h'],
  [
    'lease:\n  selfKill: 37s\n',
    /^config\.yaml:1: lease must keep the rule selfKill \+ 1s tick \+ 5s fence ladder \+ 10s margin ≤ heartbeat \+ grace: 53s is more than 52s$/,
  ],
  ['coders:\n  mine: { command: [a] }\n', /^config\.yaml:2: coders\.mine needs command and protocol/],
  [
    'coders:\n  mine: { command: [a], protocol: none, x: 1 }\n',
    'config.yaml:2: coders.mine.x is not a known field (known in coders.mine: command, protocol, args, env, model, auth, mode, hosts, network)',
  ],
  ['worker: { coder: nobody }\n', /^config\.yaml:1: worker\.coder must be one of claude, codex, /],
  [
    'routes:\n  - { coder: a }\n  - { when: { type: code } }\n',
    'config.yaml:3: routes[1] needs at least one of coder, model, credential, limits',
  ],
  [
    'routes:\n  - when: { priority: low }\n    coder: a\n',
    'config.yaml:2: routes[0].when.priority must be a number or a range such as <20, >=3 or 2-4',
  ],
  ['routes:\n  - when: { prio: 3 }\n    coder: a\n', /^config\.yaml:2: routes\[0\]\.when\.prio is not a known field$/],
  [
    'routes:\n  - { coder: a, limits: { total: 1h, idle: 2h } }\n',
    'config.yaml:2: routes[0].limits must have total above idle: 1h is not more than 2h',
  ],
  ['routes: [{ coder: "a b" }]\n', /^config\.yaml:1: routes\[0\]\.coder\[0\] must be a coder, such as claude/],
  [
    'routes: [{ credential: x }]\n',
    'config.yaml:1: routes[0].credential must be one of credentials: none is configured',
  ],
  [
    'credentials: { x: { coder: claude, home: /x } }\nroutes: [{ coder: codex, credential: x }]\n',
    'config.yaml:2: routes[0].credential must be of coder codex: x is of claude',
  ],
  [
    'routes: [{ when: { class: hard }, model: m }]\n',
    'config.yaml:1: routes[0].when.class needs triage, which says the class of a task',
  ],
  [
    'triage: { default: simple }\nroutes: [{ when: { class: hard }, model: m }]\n',
    'config.yaml:2: routes[0].when.class must be one of triage.classes: simple, complex, code',
  ],
  ['triage: { default: hard }\n', 'config.yaml:1: triage.default must be one of triage.classes: simple, complex, code'],
  [
    'budgets: [{ costUsd: 0 }]\n',
    'config.yaml:1: budgets[0].costUsd must be above 0: a budget of 0 would hold everything, which fleet pause is for',
  ],
  ['budgets:\n  - { costUsd: 1 }\n  - { queue: q }\n', 'config.yaml:3: budgets[1] needs costUsd or tokens'],
  ['prices: { m: { input: -1, output: 2 } }\n', 'config.yaml:1: prices.m.input must be at least 0'],
  ['alerts: { webhook: "file:///etc/passwd" }\n', /^config\.yaml:1: alerts\.webhook /],
  ['worker:\n  slots: 1\n  slots: 2\n', /^config\.yaml:3: this is no valid YAML: /],
  ['worker: [\n', /^config\.yaml:\d: this is no valid YAML: /],
  ['- a\n', 'config.yaml:1: the file must hold keys and values'],
])('%j is refused in one sentence with its line and key', async (yaml, expected) => {
  expect(await refusal(yaml)).toMatch(expected);
});

test('a wrong value from outside of the file names the variable or only the key', async () => {
  expect(await refusal('', { env: { FLEET_WORKER_SLOTS: 'many' } })).toMatch(/^FLEET_WORKER_SLOTS: worker\.slots /);
  expect(await refusal('', { env: { FLEET_LEASE_GRACE: '1s' } })).toMatch(
    /^FLEET_LEASE_GRACE: lease must keep the rule/,
  );
  expect(await refusal('', { flags: { worker: { slots: 0 } } })).toMatch(/^worker\.slots /);
});

test('a file that cannot be read is one sentence', async () => {
  await using temp = await tempDir();
  await mkdir(`${temp.path}/config.yaml`);
  expect(() => loadConfig({ home: temp.path, env: {} })).toThrow(`${temp.path}/config.yaml cannot be read: EISDIR`);
});

test('a builtin coder may be given partially, another one with command and protocol', async () => {
  const config = await load(
    'coders:\n  claude: { model: opus }\n  my.own: { command: [sh, a], protocol: none, env: [KEY] }\nworker: { coder: my.own }\n',
  );
  expect(config.coders).toEqual({
    claude: { model: 'opus' },
    'my.own': { command: ['sh', 'a'], protocol: 'none', env: ['KEY'] },
  });
});

test('a reserve that is not below the floor is refused', () => {
  const load = (reserve: string) => () =>
    loadConfig({ home: '/nonexistent', env: {}, flags: { disk: { floor: '1GB', reserve } } });
  expect(load('1000MB')).toThrow('disk must have reserve below floor: 1000MB is not less than 1GB');
  expect(load('999MB')().disk).toEqual({ floor: '1GB', reserve: '999MB' });
});

test('home is FLEET_HOME or ~/.fleet, absolute', () => {
  expect(resolveHome({ FLEET_HOME: '/x/y' })).toBe('/x/y');
  expect(resolveHome({ FLEET_HOME: 'here' })).toBe(`${process.cwd()}/here`);
  expect(resolveHome({ HOME: '/home/me' })).toBe('/home/me/.fleet');
  expect(resolveHome({})).toBe(`${homedir()}/.fleet`);
});

test('the machine has a stable name in the shape of a name', () => {
  expect(machineName({})).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,30}-[0-9a-f]{8}$/);
  expect(machineName({})).toBe(machineName({}));
  expect(machineName({ machine: 'mine' })).toBe('mine');
});

test('set edits one key and keeps comments, order, links and rights', async () => {
  await using temp = await tempDir();
  await writeFile(`${temp.path}/real.yaml`, '# my fleet\nworker:\n  slots: 2 # two\n\n# limits\nlimits:\n', {
    mode: 0o640,
  });
  await symlink('real.yaml', `${temp.path}/config.yaml`);
  const set = (key: string, value: string): void => setConfig({ home: temp.path, key, value });
  set('worker.slots', '4');
  set('worker.queues', 'a, b');
  set('limits.total', '3h');
  set('coders.my.own', '{ command: [sh, -c, "true"], protocol: none }');
  set('coders.my.own.model', 'big');
  set('git.name', '007');
  const text = await readFile(`${temp.path}/real.yaml`, 'utf8');
  expect(text).toContain('# my fleet\nworker:\n  slots: 4 # two\n');
  expect(text).toContain('# limits\nlimits:\n  total: 3h\n');
  const config = loadConfig({ home: temp.path, env: {} });
  expect(config.worker).toMatchObject({ slots: 4, queues: ['a', 'b'] });
  expect(config.coders['my.own']).toEqual({ command: ['sh', '-c', 'true'], protocol: 'none', model: 'big' });
  expect(config.git.name).toBe('007');
  expect((await stat(`${temp.path}/real.yaml`)).mode & 0o777).toBe(0o640);
  set('coders.my.own', '');
  expect(loadConfig({ home: temp.path, env: {} }).coders).toEqual({});
});

test('set writes nothing that is not valid as a whole, and can mend a broken value', async () => {
  await using temp = await tempDir();
  const file = `${temp.path}/config.yaml`;
  const set = (key: string, value: string) => (): void => setConfig({ home: temp.path, key, value });
  expect(set('worker.slotz', '4')).toThrow(/worker\.slotz is not a known field/);
  expect(set('__proto__.polluted', '4')).toThrow(/__proto__ is not a known field/);
  expect(set('coders.mine', '{ command: [x]')).toThrow(/coders\.mine cannot be set: the value is no valid YAML/);
  expect(set('worker..slots', '4')).toThrow('worker..slots is not a key, such as worker.slots');
  await expect(stat(file)).rejects.toThrow('ENOENT');
  await writeFile(file, 'worker: { slots: 900 }\n');
  expect(set('git.name', 'Me')).toThrow(/config\.yaml:1: worker\.slots/);
  expect(await readFile(file, 'utf8')).toBe('worker: { slots: 900 }\n');
  set('worker.slots', '9')();
  expect(loadConfig({ home: temp.path, env: {} }).worker.slots).toBe(9);
});

test('show gives every value in effect with its source', async () => {
  await using temp = await tempDir();
  await writeFile(`${temp.path}/config.yaml`, 'worker: { slots: 3 }\ncoders: { claude: { model: opus } }\n');
  const lines = showConfig({ home: temp.path, env: { FLEET_QUEUES: 'x' }, flags: { worker: { name: 'me' } } });
  expect(lines).toContainEqual({ key: 'worker.slots', value: 3, source: 'file' });
  expect(lines).toContainEqual({ key: 'worker.name', value: 'me', source: 'flag' });
  expect(lines).toContainEqual({ key: 'queues', value: ['x'], source: 'FLEET_QUEUES' });
  expect(lines).toContainEqual({ key: 'lease.grace', value: '40s', source: 'default' });
  expect(lines).toContainEqual({ key: 'coders.claude', value: { model: 'opus' }, source: 'file' });
});

test('every key of the schema is documented with its variable in docs/config.md', async () => {
  const docs = await readFile(new URL('../docs/config.md', import.meta.url), 'utf8');
  const rows = docs.split('\n').filter((line) => line.startsWith('| `'));
  const documented = rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const expected = [
    ...CONFIG_KEYS.map(({ path, env }) => [path.join('.'), env ?? '']),
    ...CODER_KEYS.map((key) => [key, expect.any(String)]),
    ...CREDENTIAL_KEYS.map((key) => [key, expect.any(String)]),
  ];
  expect(documented.map(([, key, env]) => [key, env])).toEqual(expected);
});
