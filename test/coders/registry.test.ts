import { expect, test } from '@jest/globals';
import { BUILTIN_CODERS } from '../../src/domain/task/coder-names.ts';
import { createCoders } from '../../src/coders/registry.ts';

const order = { runId: '1-a', tree: '/t', home: '/h', userHome: '/u', prompt: 'Do it', inherit: 'project' as const };

test('the builtin ones are there without any configuration', () => {
  const coders = createCoders();
  expect([...coders.keys()]).toEqual(BUILTIN_CODERS);
  expect([...coders.values()].slice(0, 3).map(({ command, structured }) => ({ command, structured }))).toEqual([
    { command: ['claude'], structured: true },
    { command: ['codex'], structured: true },
    { command: ['gemini'], structured: true },
  ]);
});

test('what the configuration says of a builtin is laid over it', () => {
  const claude = createCoders({
    claude: { command: ['/opt/claude'], args: ['--max-turns', '9'], env: ['MY_VAR'], model: 'm' },
  }).get('claude');
  const argv = claude?.start(order).argv ?? [];
  expect(argv[0]).toBe('/opt/claude');
  expect(argv.slice(-2)).toEqual(['--max-turns', '9']);
  expect(argv).toEqual(expect.arrayContaining(['-p', '--model=m']));
  expect(claude?.env).toEqual(expect.arrayContaining(['ANTHROPIC_API_KEY', 'MY_VAR']));
});

test('a declared coder is started exactly as declared, whatever its protocol', () => {
  const coders = createCoders({
    mine: { command: ['bash', '/opt/agent.sh'], protocol: 'claude', args: ['x'], env: ['KEY'], model: 'm' },
    plain: { command: ['make'], protocol: 'none' },
  });
  expect([...coders.keys()]).toEqual([...BUILTIN_CODERS, 'mine', 'plain']);
  const mine = coders.get('mine');
  expect({ ...mine, start: null, parser: null }).toMatchObject({
    name: 'mine',
    command: ['bash', '/opt/agent.sh'],
    structured: true,
    env: ['KEY'],
  });
  expect(mine?.start(order)).toEqual({
    argv: ['bash', '/opt/agent.sh', 'x'],
    stdin: 'Do it',
    env: { HOME: '/h', FLEET_MODEL: 'm' },
    files: {},
  });
  expect(coders.get('plain')).toMatchObject({ structured: false, env: [] });
  expect(coders.get('plain')?.start(order).env).toEqual({ HOME: '/h' });
});

test('a declaration under a builtin’s name takes its place', () => {
  const claude = createCoders({ claude: { command: ['my-claude'], protocol: 'none' } }).get('claude');
  expect(claude).toMatchObject({ structured: false });
  expect(claude?.start(order).argv).toEqual(['my-claude']);
});

test('each coder that takes a server of tools is told of ours, and the others of none', () => {
  const mcp = { command: '/node', args: ['/fleet-tools.js', '/outbox', 'propose'], tools: ['propose'] as const };
  const order = { runId: '1-x', tree: '/t', home: '/h', userHome: '/u', prompt: 'p', inherit: 'none' as const };
  const coders = createCoders({
    mine: { command: ['mine'], protocol: 'acp' },
    dumb: { command: ['dumb'], protocol: 'none' },
  });
  const told = [...coders.values()].map((coder) => {
    const { argv, env, files } = coder.start({ ...order, mcp });
    return [coder.name, JSON.stringify([argv, env, files]).includes('/fleet-tools.js')];
  });
  expect(Object.fromEntries(told)).toEqual(
    Object.fromEntries([...coders.values()].map((coder) => [coder.name, coder.mcp === true])),
  );
  expect(coders.get('mine')?.mcp).toBe(true);
});
