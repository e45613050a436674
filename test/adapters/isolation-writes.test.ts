import { expect, test } from '@jest/globals';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { soundPath } from '../../src/activities/worker/environment.ts';
import { asRoot, tmpfs } from '../helpers/mounts.ts';
import { containedBench } from './contained-bench.ts';

/** For each path, whether something can be made in it. */
const probe = (paths: readonly string[]): string =>
  paths
    .map(
      (path) => `if touch ${path}/probe$TAG; then echo "${path} w"; rm ${path}/probe$TAG; else echo "${path} ro"; fi`,
    )
    .join('; ');
const written = (said: string): string[] =>
  said.split('\n').flatMap((line) => (line.endsWith(' w') ? [line.slice(0, -2)] : []));

test("the system's folders, those of PATH, node's and this product's are read-only, and nothing undoes that", async () => {
  using b = containedBench();
  const tools = `${b.root}/tools`;
  mkdirSync(`${tools}/bin`, { recursive: true });
  const paths = [`${tools}/bin`, `${process.cwd()}/src`, '/usr/bin', '/usr/local/bin', '/etc', '/opt', tools, '/'];
  const undo =
    'for p in /usr /etc; do for c in "umount $p" "umount -l $p" "mount -o remount,rw $p" "mount -o remount,bind,rw $p" "nsenter -t 1 -m touch $p/x$TAG" "unshare -rm mount -o remount,bind,rw $p"; do $c && echo undone $c; done; done; mkdir m; mount --bind /usr m && touch m/x$TAG && echo undone bind';
  const { said } = await b.run(`${undo}; ${probe([...paths, '.'])}`, {
    env: { PATH: `${tools}/bin:relative:/usr/bin`, TAG: b.tag },
  });
  expect(said).not.toContain('undone');
  expect(written(said)).toEqual(['.']);
});

test('a login can be renewed where it lies, and what it lies beside is not there', async () => {
  using b = containedBench();
  const user = `${b.root}/user`;
  mkdirSync(`${user}/.claude`, { recursive: true });
  for (const file of ['.bashrc', '.claude/login', '.claude/settings.json']) writeFileSync(`${user}/${file}`, 'old');
  const { said } = await b.run(
    `ls -A ${user} ${user}/.claude; echo new >${user}/.claude/login; echo x >${user}/.bashrc`,
    {
      write: [`${user}/.claude/login`],
    },
  );
  expect(said).not.toMatch(/settings|^\.bashrc/m);
  expect(['.bashrc', '.claude/login'].map((file) => readFileSync(`${user}/${file}`, 'utf8'))).toEqual(['old', 'new\n']);
});

test('/tmp, /var/tmp and /dev/shm are of one run only, whatever its command names', async () => {
  using b = containedBench();
  const tmp = `${b.work}/tmp`;
  const [named, other] = [mkdtempSync('/tmp/fleet-named-'), mkdtempSync('/tmp/fleet-other-')];
  try {
    writeFileSync(`${named}/file`, 'by the owner');
    const first = await b.run(
      `cat ${named}/file; ls /tmp /dev/shm; for d in /tmp /var/tmp /dev/shm; do echo x >$d/planted || echo no; done`,
      { tmp },
    );
    expect(first.said).not.toMatch(new RegExp(`by the owner|no\\n|${basename(other)}`));
    expect(['/tmp', '/var/tmp', '/dev/shm'].filter((dir) => existsSync(`${dir}/planted`))).toEqual([]);
    expect(readFileSync(`${tmp}/planted`, 'utf8')).toBe('x\n');
    const second = await b.run('cat /tmp/planted /var/tmp/planted /dev/shm/planted', { tmp: `${b.work}/tmp2` });
    expect(second.said.match(/No such file/g)).toHaveLength(3);
    const listed = await b.run(`cat ${named}/file; echo x >${named}/file`, { tmp, read: [named] });
    expect(listed.said).toContain('by the owner');
    expect(readFileSync(`${named}/file`, 'utf8')).toBe('by the owner');
  } finally {
    [named, other].forEach((dir) => rmSync(dir, { recursive: true }));
  }
});

test('what setup left in place of the private folder leads nowhere', async () => {
  using b = containedBench();
  symlinkSync(`${b.home}/keys`, `${b.work}/tmp`);
  const { said } = await b.run('ls -A /tmp; echo x >/tmp/mine && echo ok', { tmp: `${b.work}/tmp` });
  expect(said).not.toContain('key\n');
  expect(said).toContain('ok\n');
  rmSync(`${b.work}/tmp/${basename(b.root)}`, { recursive: true });
  symlinkSync('/etc', `${b.work}/tmp/${basename(b.root)}`);
  expect(await b.run(`touch ${b.root}/here`, { tmp: `${b.work}/tmp` })).toMatchObject({ exitCode: 0 });
  expect([`${b.root}/here`, '/etc/here'].filter((path) => existsSync(path))).toEqual([]);
});

test('a tree can write nothing but what it is shown and its own /tmp, and its tools work', async () => {
  using b = containedBench();
  const outside = [
    ...new Set([
      '/root',
      homedir(),
      b.root,
      b.repo,
      '/',
      '/var',
      '/run',
      '/dev',
      '/srv',
      '/mnt',
      '/usr/bin',
      '/var/lib',
      `${b.home}/bases/r`,
    ]),
  ];
  const works =
    'echo x >/dev/null && head -c 9 /dev/urandom >random && node -e "require(\'net\').createServer().listen(0, function () { this.close() })" && git init -q r && (cat <<E\nhere\nE\n) && script -qec true /dev/null </dev/null && echo works';
  const { said } = await b.run(`${probe([...outside, '.', '/tmp', '/var/tmp', '/dev/shm', '$TMPDIR'])}; ${works}`, {
    tmp: `${b.work}/tmp`,
    env: { PATH: process.env['PATH']!, TAG: b.tag, TMPDIR: `${b.work}/tmp`, HOME: b.work },
  });
  // What lies below /tmp is the run's own there.
  const own = written(said).filter((path) => path !== b.root);
  expect(own).toEqual(['.', '/tmp', '/var/tmp', '/dev/shm', `${b.work}/tmp`]);
  expect(readdirSync(b.root).filter((name) => name.startsWith('probe'))).toEqual([]);
  expect(said).toMatch(/works\n$/);
});

test('a home below /tmp, or on a file system of its own there, is as anywhere else', async () => {
  using b = containedBench();
  using _ = asRoot ? tmpfs(`${b.root}/disk`, 'size=8m') : { [Symbol.dispose]: () => {} };
  mkdirSync(`${b.root}/disk/home/work/tmp`, { recursive: true });
  const home = `${b.root}/disk/home`;
  const { said } = await b.run(probe(['.', '/tmp', b.root, `${b.root}/disk`]), {
    ...{ home, show: [{ path: `${home}/work` }], cwd: `${home}/work`, tmp: `${home}/work/tmp` },
  });
  expect(written(said).slice(0, 2)).toEqual(['.', '/tmp']);
  expect(readdirSync(b.root).filter((name) => name.startsWith('probe'))).toEqual([]);
});

test('a PATH holds neither relative folders nor those that a run can write', () => {
  expect(soundPath('/usr/bin::.:bin:/home/runs/t/work/bin:/home/runs:/opt/bin', ['/home/runs'])).toBe(
    '/usr/bin:/opt/bin',
  );
});
