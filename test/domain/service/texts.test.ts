import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { cronLine, isTime } from '../../../src/domain/service/cron-line.ts';
import { joinScript } from '../../../src/domain/service/join-script.ts';
import { launchAgent } from '../../../src/domain/service/launch-agent.ts';
import { isServiceName, launchLabel, unitName } from '../../../src/domain/service/names.ts';
import { isOurs, quoted, secretsIn, serviceEnv, startScript } from '../../../src/domain/service/start-script.ts';
import { systemdUnit } from '../../../src/domain/service/systemd-unit.ts';

const ODD = `/home/m e/100%/it's "$HOME"/a\\b&c<d>`;
const START = {
  ...{ unit: 'fleet-worker', node: process.execPath, main: '/nowhere/main.js', args: ['worker', '--slots', '4'] },
  env: { FLEET_HOME: ODD, PATH: '/usr/bin:/bin' },
};

describe('names', () => {
  test.each([
    ['build-7', true],
    ['a.b_C', true],
    ['', false],
    ['-a', false],
    ['a b', false],
    ['../a', false],
    ['a'.repeat(41), false],
  ])('%p can be a name: %p', (name, can) => expect(isServiceName(name)).toBe(can));

  test('of units', () => {
    expect([unitName(undefined), unitName('b')]).toEqual(['fleet-worker', 'fleet-worker-b']);
    expect(launchLabel(unitName('b'))).toBe('dev.infinity-fleet.fleet-worker-b');
  });
});

describe('the start script', () => {
  test('a shell reads back what was quoted', () => {
    for (const text of [ODD, '', 'plain', '-n', "'", '\n', '`id`'])
      expect(execFileSync('/bin/sh', ['-c', `printf %s ${quoted(text)}`]).toString()).toBe(text);
  });

  test('sets the environment, then reads what prepares it, then becomes the worker', () => {
    const text = startScript({ ...START, node: '/bin/echo', envSetup: '/dev/null' }, '/bin/sh');
    const printed = execFileSync('/bin/sh', ['-c', text.replace(/^exec/m, 'printf "%s\\n" "$FLEET_HOME"; exec')]);
    expect(printed.toString()).toBe(`${ODD}\n--max-semi-space-size=2 /nowhere/main.js worker --slots 4\n`);
    expect(isOurs(text)).toBe(true);
  });

  test('does not start the worker where its preparation fails', () => {
    const text = startScript({ ...START, node: '/bin/echo', envSetup: '/nowhere/setup.sh' }, '/bin/bash');
    expect(() => execFileSync('/bin/bash', ['-c', text], { stdio: 'pipe' })).toThrow(/nowhere\/setup/);
  });

  test("takes the fleet's and Temporal's variables and where programs are, and knows which are secret", () => {
    const env = {
      ...{ FLEET_HOME: '/h', TEMPORAL_ADDRESS: 'a:1', TEMPORAL_API_KEY: 's', PATH: '/bin', LANG: 'C' },
      ...{
        ANTHROPIC_API_KEY: 'k',
        SSH_AUTH_SOCK: '/tmp/x',
        FLEET_EMPTY: '',
        fleet_low: 'x',
        TEMPORAL_TLS_CLIENT_KEY_DATA: 'k',
      },
    };
    const own = serviceEnv(env);
    expect(Object.keys(own)).toEqual([
      ...['FLEET_HOME', 'LANG', 'PATH', 'TEMPORAL_ADDRESS', 'TEMPORAL_API_KEY', 'TEMPORAL_TLS_CLIENT_KEY_DATA'],
    ]);
    expect(secretsIn(own)).toEqual(['TEMPORAL_API_KEY', 'TEMPORAL_TLS_CLIENT_KEY_DATA']);
  });
});

test('a systemd unit says how a worker is ended, and what of it goes on', () => {
  const text = systemdUnit({ name: 'b%7', start: `${ODD}/s.sh`, home: ODD, stopSeconds: 8_400 });
  expect(text).toContain(String.raw`ExecStart="/home/m e/100%%/it's \"$$HOME\"/a\\b&c<d>/s.sh"`);
  expect(text).toContain('Description=Infinity Fleet worker b%%7\n');
  for (const line of [
    'KillMode=process',
    'Restart=on-failure',
    'TimeoutStopSec=8400',
    'OOMPolicy=continue',
    'Delegate=yes',
  ])
    expect(text.split('\n')).toContain(line);
  expect(isOurs(text)).toBe(true);
});

/** Of launchd.plist(5), with the kind of value that each takes. */
const DOCUMENTED: Record<string, string> = {
  ...{
    Label: 'string',
    ProgramArguments: 'array',
    RunAtLoad: 'boolean',
    KeepAlive: 'dict',
    ThrottleInterval: 'integer',
  },
  ...{ ExitTimeOut: 'integer', AbandonProcessGroup: 'boolean', ProcessType: 'string' },
  ...{ StandardOutPath: 'string', StandardErrorPath: 'string' },
};

test('a LaunchAgent is a well-formed property list of documented keys', () => {
  const text = launchAgent({ label: 'dev.x', start: `${ODD}/s.sh`, log: `${ODD}/log`, stopSeconds: 90 });
  const top = /<dict>\n([^]*)\n<\/dict>\n<\/plist>\n$/.exec(text)![1]!;
  const pairs = [...top.matchAll(/^<key>(.*)<\/key>\n(?:<(true|false)\/>|<(\w+)>([^]*?)<\/\3>(?=\n<key>|$))/gm)];
  const kinds = Object.fromEntries(pairs.map(([, key, bool, kind]) => [key!, bool ? 'boolean' : kind!]));
  expect(kinds).toEqual(DOCUMENTED);
  expect(isOurs(text)).toBe(true);
  // Python reads property lists as macOS writes them.
  const read = execFileSync(
    'python3',
    ['-c', 'import json,plistlib,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'],
    { input: text },
  );
  expect(JSON.parse(read.toString())).toMatchObject({
    ...{ Label: 'dev.x', ProgramArguments: [`${ODD}/s.sh`], KeepAlive: { SuccessfulExit: false }, ExitTimeOut: 90 },
  });
});

describe('a line for cron', () => {
  test('is one line that a shell reads, with no percent sign that cron would take', () => {
    const line = cronLine({ ...START, envSetup: '/a b.sh' }, { at: '22:05', seconds: 3_600 });
    expect(line).toMatch(/^5 22 \* \* \* \. '\/a b\.sh' && FLEET_HOME=/);
    expect(line.split('\n')).toHaveLength(1);
    expect(line.replaceAll(String.raw`\%`, '')).not.toContain('%');
    const command = line
      .slice('5 22 * * * '.length)
      .replaceAll(String.raw`\%`, '%')
      .replace(". '/a b.sh' && ", '');
    const probe = command.replace(/timeout .*$/, `sh -c 'printf %s "$FLEET_HOME"'`);
    expect(execFileSync('/bin/sh', ['-c', probe]).toString()).toBe(ODD);
  });

  test.each([
    ['22:00', true],
    ['7:30', true],
    ['24:00', false],
    ['22', false],
    ['22:60', false],
  ])('%p is a time: %p', (text, is) => expect(isTime(text)).toBe(is));
});

test('an invitation is a script that both shells read', () => {
  const bytes = Buffer.from('x'.repeat(500));
  const text = joinScript({
    ...{ name: 'build-7', queues: ['fleet', "o'night"], by: 'me@host\n$(id)', node: '20.19' },
    ...{ packed: bytes.toString('base64'), lock: '', profile: bytes.toString('base64') },
  });
  for (const shell of ['/bin/sh', '/bin/bash']) execFileSync(shell, ['-n'], { input: text });
  expect(text.split('\n')[1]).toContain('by me@hostid: makes');
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(260);
});
