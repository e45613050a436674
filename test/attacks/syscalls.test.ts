import { expect, test } from '@jest/globals';
import { ESCAPES } from '../../src/adapters/sandbox/escapes.ts';
import {
  attack,
  fixture,
  withoutFilter,
  withoutNetwork,
  withoutReadOnlyProc,
  withoutView,
  type Without,
} from './lab.ts';

test.each([
  { way: 'mem', without: withoutReadOnlyProc },
  { way: 'writev', without: withoutFilter },
  { way: 'ptrace', without: withoutFilter },
])('A3: code under test writes nothing into the shell that reports its failure: $way', async ({ way, without }) => {
  const files = { 'forge-parent.pl': fixture('forge-parent.pl') };
  const command = `perl forge-parent.pl ${way}\n\n\nexit 1\n\n`;
  expect(await attack(command, { files, without })).toMatchObject({ report: 'exit 0', said: `${way}: written\n` });
  const walled = await attack(command, { files });
  expect(walled).toMatchObject({ report: 'exit 1', said: expect.stringMatching(/: refused, [1-9]\d* found$/m) });
  // An agent may debug what it makes.
  expect(await attack(command, { files, debuggers: true })).toMatchObject({ said: `${way}: written\n` });
});

test('the kernel does not look at what no program of a tree needs to call', async () => {
  const tried = async (options: { without?: Without; debuggers?: boolean }) => {
    const { said } = await attack('perl call.pl', { files: { 'call.pl': fixture('call.pl') }, ...options });
    return Object.fromEntries(
      said
        .trim()
        .split('\n')
        .map((line) => line.split(/ (.*)/s)),
    );
  };
  const open = await tried({ without: withoutFilter });
  const names = Object.keys(open);
  expect(names.length).toBeGreaterThan(15);
  expect(open).toEqual(Object.fromEntries(names.map((name) => [name, 'looked at'])));
  const denied = Object.fromEntries(names.map((name) => [name, 'EPERM']));
  // Leak sanitizers follow the program that they look at; the C library takes the old call for the new one.
  const walled = { ...denied, ptrace_attach: 'looked at', clone3: 'ENOSYS' };
  expect(await tried({})).toEqual(walled);
  const debugged = { ptrace_poke: 'looked at', process_vm_writev: 'looked at' };
  expect(await tried({ debuggers: true })).toEqual({ ...walled, ...debugged });
});

test.each<{ wall: string; without: Without }>([
  { wall: 'files that are not shown', without: withoutView },
  {
    wall: 'other processes',
    without: (argv) => argv.filter((word) => !['--unshare-pid', '--as-pid-1'].includes(word)),
  },
  { wall: 'the network', without: withoutNetwork },
  { wall: 'capabilities', without: (argv) => argv.with(argv.lastIndexOf('--cap-drop'), '--cap-add') },
  { wall: 'every system call', without: withoutFilter },
  { wall: 'the memory of other processes', without: withoutReadOnlyProc },
])('the self-test of a sandbox names what a missing wall lets out: $wall', async ({ wall, without }) => {
  const tried = (taken?: Without) =>
    attack(() => ['sh', '-c', ESCAPES], { files: { '../hidden': '' }, without: taken });
  expect(await tried(without)).toMatchObject({ report: 'exit 1', said: expect.stringContaining(wall) });
  expect(await tried()).toMatchObject({ report: 'exit 0', said: '' });
});
