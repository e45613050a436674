import { expect, test } from '@jest/globals';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { until } from '../helpers/until.ts';
import { attack, withoutFilter, withoutView, type Without } from './lab.ts';

const SECRETS = ['.ssh/id_ed25519', '.aws/credentials', '.git-credentials'];
const WRITTEN = [
  '.bashrc',
  '.gitconfig',
  '.ssh/authorized_keys',
  '.local/bin/git',
  'coder/agent.sh',
  'other/.git/config',
];

/** A HOME as people have it, and the folder of another repository. */
function home(folder: string) {
  for (const path of [...SECRETS, ...WRITTEN]) {
    mkdirSync(`${folder}/${path.replace(/[^/]*$/, '')}`, { recursive: true });
    writeFileSync(`${folder}/${path}`, 'a canary\n');
  }
  return { look: () => WRITTEN.filter((path) => readFileSync(`${folder}/${path}`, 'utf8') !== 'a canary\n') };
}

test('A5, S4: nothing of a HOME is read or written, by whatever name', async () => {
  const command = `
    for f in ${SECRETS.join(' ')}; do for r in "" /proc/self/root /proc/1/root /proc/2/root /../..; do cat "$r$V/$f"; done; done
    for f in ${WRITTEN.join(' ')}; do mkdir -p "$V/\${f%/*}"; echo planted >>"$V/$f"; done`;
  const open = await attack(command, { victim: home, without: withoutView });
  expect(open).toMatchObject({ said: expect.stringContaining('canary'), host: WRITTEN });
  const walled = await attack(command, { victim: home });
  expect(walled.host).toEqual([]);
  expect(walled.said).not.toContain('canary');
});

test('A6, S11: a socket in a folder that is not shown takes no connection', async () => {
  const command =
    'perl -MIO::Socket::UNIX -e \'print IO::Socket::UNIX->new(Peer => "$ENV{V}/s") ? "connected" : "refused"\'';
  const victim = (folder: string) => {
    let calls = 0;
    const server = createServer((socket) => ((calls += 1), socket.destroy())).listen(`${folder}/s`);
    return { look: () => calls, [Symbol.dispose]: () => void server.close() };
  };
  const open = await attack(command, { victim, without: withoutView });
  await until(() => open.said.includes('connected'));
  expect(await attack(command, { victim })).toMatchObject({ said: 'refused', host: 0 });
});

test('A11, S1: no device of the machine, no setting of its kernel, no further user namespace', async () => {
  const tried = `
    find /dev -type b | sed 's/^/device /'
    for d in /dev/kvm /dev/fuse /dev/net/tun /dev/loop-control /dev/mem; do [ -e $d ] && echo "device $d"; done
    for s in kernel/core_pattern kernel/hostname net/ipv4/ip_forward vm/drop_caches; do
      sh -c ": >>/proc/sys/$s" && echo "opened $s"
    done
    unshare -U true && echo namespace
    umount /proc && echo umounted
    mount -t tmpfs none /mnt && echo mounted`;
  const open = await attack(tried, {
    without: (argv) => withoutView(withoutFilter(argv)).filter((word) => word !== '--disable-userns'),
  });
  expect(open.said).toMatch(/^namespace$/m);
  // Two walls hold the last of them: bwrap's own, and the filter of system calls.
  const walls: Without[] = [withoutFilter, (argv) => argv.filter((word) => word !== '--disable-userns')];
  for (const without of walls) expect((await attack(tried, { without })).said).not.toMatch(/^namespace$/m);
  const walled = await attack(tried);
  expect(walled.said).not.toMatch(/^(device|opened|namespace|umounted|mounted)/m);
});

test('A12: what lies in /tmp beside a program that is started is not there', async () => {
  const victim = (folder: string) => {
    writeFileSync(`${folder}/agent.sh`, 'echo started; cat "$V/canary"; echo x >"$V/agent.sh"\n');
    writeFileSync(`${folder}/canary`, 'a canary');
    return { look: () => readFileSync(`${folder}/agent.sh`, 'utf8').startsWith('echo started') };
  };
  const command = (folder: string) => ['sh', `${folder}/agent.sh`];
  expect(await attack(command, { victim, without: withoutView })).toMatchObject({
    said: 'started\na canary',
    host: false,
  });
  const walled = await attack(command, { victim });
  expect(walled).toMatchObject({ said: expect.stringContaining('started'), host: true });
  expect(walled.said).not.toMatch(/a canary/);
});
