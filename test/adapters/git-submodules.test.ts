import { describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { laySubmodules } from '../../src/adapters/git/worktree/lay-submodules.ts';
import { homeLayout } from '../../src/domain/names.ts';
import { openSource } from '../../src/adapters/git/source/source.ts';
import { git, makeRepo, must, write } from '../helpers/git.ts';
import { ALLOWED, commitAll, head, link, openAll } from '../helpers/submodules.ts';
import { tempDir } from '../helpers/temp.ts';

const sentence = async (...given: Parameters<typeof openAll>): Promise<string> => {
  const { opened } = await openAll(...given);
  return opened.ok ? 'ok' : `${opened.why}: ${opened.message.split('; to go on')[0]!.replaceAll(given[0], '')}`;
};

describe('submodules are brought', () => {
  test('from the clone that the checkout has, also a commit that nobody else has, and what lies in them', async () => {
    await using temp = await tempDir();
    makeRepo(`${temp.path}/deep`, { 'd.txt': 'deep\n' });
    makeRepo(`${temp.path}/lib`, { 'l.txt': 'lib\n' });
    git(`${temp.path}/lib`, ...ALLOWED, 'submodule', 'add', '-q', `${temp.path}/deep`, 'third/deep');
    commitAll(`${temp.path}/lib`);
    const app = `${temp.path}/app`;
    makeRepo(app);
    git(app, ...ALLOWED, 'submodule', 'add', '-q', `${temp.path}/lib`, 'libs/lib');
    git(app, ...ALLOWED, 'submodule', 'update', '-q', '--init', '--recursive');
    write(`${app}/libs/lib`, { 'l.txt': 'unpushed\n' });
    const own = commitAll(`${app}/libs/lib`);
    commitAll(app);
    // Nothing of it is there any more.
    for (const gone of ['deep', 'lib']) rmSync(`${temp.path}/${gone}`, { recursive: true });

    const { opened, home } = await openAll(temp.path, app);
    expect(must(opened).submodules.map(({ path, commit }) => [path, commit])).toEqual([
      ['libs/lib', own],
      ['libs/lib/third/deep', head(`${app}/libs/lib/third/deep`)],
    ]);
    const tree = `${temp.path}/tree`;
    mkdirSync(tree);
    await laySubmodules(tree, must(opened).submodules);
    expect(readFileSync(`${tree}/libs/lib/l.txt`, 'utf8')).toBe('unpushed\n');
    expect(readFileSync(`${tree}/libs/lib/third/deep/d.txt`, 'utf8')).toBe('deep\n');
    expect(existsSync(`${tree}/libs/lib/.git`)).toBe(false);
    expect(must(opened).submodules.every(({ gitDir }) => gitDir.startsWith(home.bases))).toBe(true);
  });

  test('from a mirror of their own, by a URL relative to their superproject', async () => {
    await using temp = await tempDir();
    const commit = makeRepo(`${temp.path}/lib`, { 'l.txt': 'lib\n' });
    git(temp.path, 'clone', '-q', '--bare', 'lib', 'lib.git');
    makeRepo(`${temp.path}/app`);
    link(`${temp.path}/app`, 'libs/lib', commit, '../lib.git');
    git(temp.path, 'clone', '-q', '--bare', 'app', 'app.git');
    const { opened, home } = await openAll(temp.path, `file://${temp.path}/app.git`);
    expect(must(opened).submodules).toMatchObject([{ path: 'libs/lib', commit }]);
    const { source } = must(await openSource({ repo: `file://${temp.path}/lib.git`, mirrorDir: home.mirror }));
    expect(existsSync(source.gitDir)).toBe(true);
  });

  test('only where they are wanted', async () => {
    await using temp = await tempDir();
    const commit = makeRepo(`${temp.path}/lib`);
    const app = `${temp.path}/app`;
    makeRepo(app);
    link(app, 'a', commit, '../lib');
    link(app, 'b', commit, 'ext::touch x');
    expect(must((await openAll(temp.path, app, { wanted: ['a'] })).opened).submodules).toMatchObject([{ path: 'a' }]);
    expect(must((await openAll(temp.path, app, { wanted: [] })).opened).submodules).toEqual([]);
  });
});

describe('submodules are checked out', () => {
  test('through no link, over no file, and out of no tree', async () => {
    await using temp = await tempDir();
    const commit = makeRepo(`${temp.path}/lib`, { 'l.txt': 'lib\n' });
    const [tree, outside] = [`${temp.path}/tree`, `${temp.path}/outside`];
    write(tree, { 'full/mine.txt': 'mine\n', file: '' });
    write(outside, { 'o.txt': '' });
    symlinkSync(outside, `${tree}/link`);
    const gitDir = `${temp.path}/lib/.git`;
    for (const path of ['link', 'link/in', 'full', 'file', 'file/in', '../outside/up', 'a/.git/b'])
      await expect(laySubmodules(tree, [{ path, commit, gitDir }])).rejects.toThrow(`submodule ${path} cannot`);
    expect(readdirSync(outside)).toEqual(['o.txt']);
    expect(readdirSync(`${tree}/full`)).toEqual(['mine.txt']);
    await laySubmodules(tree, [{ path: 'a/in', commit, gitDir }]);
    expect(readdirSync(`${tree}/a/in`)).toEqual(['l.txt']);
  });
});

describe('what cannot be had is said with its path', () => {
  test('a URL that is refused, a commit that is not there, a link that no .gitmodules names', async () => {
    await using temp = await tempDir();
    const commit = makeRepo(`${temp.path}/lib`);
    const repo = (name: string) => (makeRepo(`${temp.path}/${name}`), `${temp.path}/${name}`);
    const one = repo('one');
    link(one, 'x', commit, `ext::sh -c "touch ${temp.path}/ran"`);
    expect(await sentence(temp.path, one)).toMatch(
      /^refused: submodule x cannot be checked out: its URL ext::.* must be an https, ssh or file URL$/,
    );
    const two = repo('two');
    link(two, 'x', '1'.repeat(40), '../lib');
    expect(await sentence(temp.path, two)).toBe(
      'no-commit: submodule x cannot be checked out: /lib has no commit 111111111111',
    );
    const three = repo('three');
    git(three, 'update-index', '--add', '--cacheinfo', `160000,${commit},x`);
    git(three, 'commit', '-q', '-m', 'bare link');
    expect(await sentence(temp.path, three)).toBe(
      'refused: submodule x cannot be checked out: there is no .gitmodules',
    );
    link(three, 'y', commit, '../lib');
    expect(await sentence(temp.path, three)).toBe(
      'refused: submodule x cannot be checked out: .gitmodules names no URL for it',
    );
    const odd = repo('odd');
    git(odd, 'config', 'core.protectNTFS', 'false');
    link(odd, 'a/git~1', commit, '../lib');
    expect(await sentence(temp.path, odd)).toBe(
      'refused: submodule a/git~1 cannot be checked out: its path is none for a folder',
    );
    const four = repo('four');
    link(four, 'x', commit, 'https://localhost:1/none.git');
    expect(await sentence(temp.path, four)).toMatch(
      /^unreachable: submodule x cannot be checked out: https:\/\/localhost:1\/none.git cannot be reached/,
    );
    const five = repo('five');
    link(five, 'x', commit, `${temp.path}/home/mirrors/secret.git`);
    expect(await sentence(temp.path, five)).toBe(
      "refused: submodule x cannot be checked out: its URL leads into the fleet's own folder",
    );
    mkdirSync(`${temp.path}/home`, { recursive: true });
    symlinkSync(`${temp.path}/home`, `${temp.path}/door`);
    makeRepo(`${temp.path}/home/theirs`);
    const six = repo('six');
    link(six, 'x', commit, '../door/theirs');
    expect(await sentence(temp.path, six)).toBe(
      "refused: submodule x cannot be checked out: its URL leads into the fleet's own folder",
    );
    expect(existsSync(`${temp.path}/ran`)).toBe(false);
  });

  test('one that holds itself ends', async () => {
    await using temp = await tempDir();
    const loop = `${temp.path}/loop`;
    let commit = makeRepo(loop);
    for (let i = 0; i < 7; i += 1) {
      git(loop, 'rm', '-q', '--cached', '--ignore-unmatch', '.gitmodules');
      rmSync(`${loop}/.gitmodules`, { force: true });
      commit = link(loop, 'again', commit, loop);
    }
    expect(await sentence(temp.path, loop)).toBe(
      `refused: submodule ${Array.from({ length: 6 }, () => 'again').join('/')} cannot be checked out: it is more than 5 deep`,
    );
  });

  test("an agent's .gitmodules is not believed", async () => {
    await using temp = await tempDir();
    const commit = makeRepo(`${temp.path}/secret`);
    const app = `${temp.path}/app`;
    const base = makeRepo(app);
    link(app, 'x', commit, '../secret');
    expect(await sentence(temp.path, app, { rules: base })).toBe(
      'refused: submodule x cannot be checked out: there is no .gitmodules',
    );
  });

  test("an agent's commit of a submodule is one of its branches or tags, and its .gitmodules is not believed either", async () => {
    await using temp = await tempDir();
    const bare = (name: string) => git(temp.path, 'clone', '-q', '--mirror', name, `${name}.git`);
    const at = (name: string) => `${temp.path}/${name}`;
    const secret = makeRepo(at('secret'), { 's.txt': 'secret\n' });
    bare('secret');
    makeRepo(at('deep'));
    write(at('deep'), { 'a.txt': 'newer\n' });
    const deep = [git(at('deep'), 'rev-parse', 'HEAD'), commitAll(at('deep'))] as const;
    bare('deep');
    makeRepo(at('lib'));
    const move = (repo: string, path: string, commit: string) => {
      git(at(repo), 'update-index', '--cacheinfo', `160000,${commit},${path}`);
      git(at(repo), 'commit', '-q', '-m', 'moved');
      return head(at(repo));
    };
    const own = link(at('lib'), 'in/deep', deep[0], '../deep.git');
    const newer = move('lib', 'in/deep', deep[1]);
    git(at('lib'), 'config', '-f', '.gitmodules', 'submodule.in/deep.url', '../secret.git');
    git(at('lib'), 'add', '.gitmodules');
    const other = move('lib', 'in/deep', secret);
    const added = link(at('lib'), 'in/secret', secret, '../secret.git');
    // As a host keeps what was pushed to a fork.
    git(at('lib'), 'checkout', '-q', '--detach');
    const forked = move('lib', 'in/deep', deep[1]);
    git(at('lib'), 'update-ref', 'refs/pull/1/head', forked);
    git(at('lib'), 'checkout', '-q', '-f', 'main');
    bare('lib');
    git(at('lib.git'), 'config', 'uploadpack.allowAnySHA1InWant', 'true');
    makeRepo(at('app'));
    const base = link(at('app'), 'lib', own, '../lib.git');
    const told = async (commit: string) => {
      if (commit !== own) move('app', 'lib', commit);
      rmSync(at('app.git'), { recursive: true, force: true });
      bare('app');
      return sentence(temp.path, `file://${at('app.git')}`, { rules: base });
    };
    expect(await told(own)).toBe('ok');
    expect(await told(newer)).toBe('ok');
    const no = (path: string, name: string, commit: string) =>
      `no-commit: submodule ${path} cannot be checked out: file:///${name}.git has no commit ${commit.slice(0, 12)} on any branch or tag`;
    expect(await told(forked)).toBe(no('lib', 'lib', forked));
    expect(await told(other)).toBe(no('lib/in/deep', 'deep', secret));
    expect(await told(added)).toMatch(/^refused: submodule lib\/in\/secret .*: \.gitmodules names no URL for it$/);
    const { source } = must(
      await openSource({ repo: `file://${at('secret.git')}`, mirrorDir: homeLayout(at('home')).mirror }),
    );
    expect(existsSync(source.gitDir)).toBe(false);
  });

  test('nothing that others have planted runs', async () => {
    await using temp = await tempDir();
    const ran = `${temp.path}/ran`;
    makeRepo(`${temp.path}/lib`, { 'l.txt': 'x\n', '.gitattributes': '* filter=evil\n' });
    const app = `${temp.path}/app`;
    makeRepo(app);
    git(app, ...ALLOWED, 'submodule', 'add', '-q', `${temp.path}/lib`, 'lib');
    git(app, 'config', '-f', '.gitmodules', 'submodule.lib.update', `!touch ${ran}`);
    git(app, 'config', '-f', '.gitmodules', 'include.path', `${temp.path}/include`);
    writeFileSync(`${temp.path}/include`, '[submodule "lib"]\n\turl = ext::touch\n');
    commitAll(app);
    const clone = `${app}/.git/modules/lib`;
    for (const [key, value] of [
      ['filter.evil.smudge', `touch ${ran}; cat`],
      ['core.fsmonitor', `touch ${ran}`],
      ['core.sshCommand', `touch ${ran}`],
      ['uploadpack.packObjectsHook', `touch ${ran}`],
      ['core.hooksPath', `${temp.path}/hooks`],
    ])
      git(clone, 'config', key!, value!);
    write(`${temp.path}/hooks`, {
      'post-checkout': `#!/bin/sh\ntouch ${ran}\n`,
      'reference-transaction': `#!/bin/sh\ntouch ${ran}\n`,
    });
    const { opened } = await openAll(temp.path, app);
    mkdirSync(`${temp.path}/tree`);
    await laySubmodules(`${temp.path}/tree`, must(opened).submodules);
    expect(readFileSync(`${temp.path}/tree/lib/l.txt`, 'utf8')).toBe('x\n');
    expect(existsSync(ran)).toBe(false);
  });
});
