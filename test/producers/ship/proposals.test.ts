import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { approvalOf, seemsApproved } from '../../../src/producers/ship/approval.ts';
import { findFiles } from '../../../src/producers/ship/find-files.ts';
import { Places } from '../../../src/producers/ship/place.ts';
import { readProposal } from '../../../src/producers/ship/read-proposal.ts';
import { readStatus, writeStatus } from '../../../src/producers/ship/status-file.ts';
import { git } from '../../helpers/git.ts';
import { tempDir } from '../../helpers/temp.ts';

async function laid(root: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(`${root}/${path}`), { recursive: true });
    await writeFile(`${root}/${path}`, text);
  }
}

const read = async (root: string, file: string) => {
  const [found] = await findFiles(file, root);
  return readProposal(found!, new Places());
};

describe('approval', () => {
  test.each([
    [true, ['p'], 1],
    [false, ['p', 'approved'], 0],
    [undefined, ['p'], 0],
    [undefined, ['p', 'approved', 'web'], 1],
    [undefined, ['Approved'], 1],
    [2, ['p'], 2],
    [0, ['approved'], 0],
  ])('%p in %p is %p', (said, folders, approval) => {
    expect(approvalOf({ said, folders })).toBe(approval);
  });

  test.each(['yes', 'true', 1.5, -1, null, [true]])('%p is none', (said) => {
    expect(() => approvalOf({ said, folders: [] })).toThrow(/^approved must be true, false, or the number/);
  });

  test.each([
    ['---\napproved: true\n', true],
    ['approved : 2', true],
    ['Approved: yes', true],
    ['---\napproved: false\n', false],
    [' approved: by nobody', false],
    ['# approved: true', false],
  ])('the head %p seems approved: %p', (head, seems) => {
    expect(seemsApproved(head)).toBe(seems);
  });
});

describe('files', () => {
  test('of a folder, a glob and one file; what is hidden or no task file is left out', async () => {
    await using temp = await tempDir();
    const text = '# T\n';
    await laid(temp.path, {
      ...{ 'p/b.md': text, 'p/a.yaml': text, 'p/web/approved/c.md': text, 'p/b.md.status': text, 'p/notes.txt': text },
      ...{ 'p/.git/d.md': text, 'p/node_modules/e.md': text, 'p/.hidden.md': text },
    });
    const shown = async (given: string) => (await findFiles(given, temp.path)).map((file) => file.shown);
    expect(await shown('p')).toEqual(['p/a.yaml', 'p/b.md', 'p/web/approved/c.md']);
    expect(await shown('./p/')).toEqual(['p/a.yaml', 'p/b.md', 'p/web/approved/c.md']);
    expect(await shown('p/**/*.md')).toEqual(['p/b.md', 'p/web/approved/c.md']);
    expect(await shown(`${temp.path}/p/*.md`)).toEqual([`${temp.path}/p/b.md`]);
    expect(await shown('p/b.md')).toEqual(['p/b.md']);
    expect((await findFiles('p/**/c.md', temp.path))[0]!.folders).toEqual(['p', 'web', 'approved']);
    expect(await shown('p/*.yml')).toEqual([]);
  });

  test.each([
    ['nowhere', 'nowhere does not exist'],
    ['nowhere/*.md', 'nowhere/*.md matches nothing: there is no folder nowhere'],
    ['notes.txt', 'notes.txt must be a .md, .yaml or .yml file'],
  ])('%s: %s', async (given, message) => {
    await using temp = await tempDir();
    await laid(temp.path, { 'notes.txt': '' });
    await expect(findFiles(given, temp.path)).rejects.toThrow(message);
  });

  test('a link out of the folder is refused, one within it is the same file', async () => {
    await using temp = await tempDir();
    await laid(temp.path, { 'secret.md': '# S\n', 'p/a.md': '---\napproved: true\n---\n# A\n' });
    await symlink('../secret.md', `${temp.path}/p/out.md`);
    await symlink('a.md', `${temp.path}/p/in.md`);
    await symlink('gone.md', `${temp.path}/p/nothing.md`);
    const found = await findFiles('p', temp.path);
    expect(found.map(({ shown, refused }) => [shown, refused])).toEqual([
      ['p/a.md', undefined],
      ['p/in.md', undefined],
      ['p/nothing.md', 'is a link to nothing'],
      ['p/out.md', 'is a link out of p'],
    ]);
    expect(found[1]!.path).toBe(found[0]!.path);
  });
});

describe('a proposal', () => {
  const APPROVED = '---\napproved: true\n---\n# Fix the login\n\nIt fails at night.\n';

  test('is one task of its heading and its text', async () => {
    await using temp = await tempDir();
    await laid(temp.path, { 'p/login.md': APPROVED });
    expect(await read(temp.path, 'p')).toMatchObject({
      ...{ is: 'approved', approval: 1, name: 'login', input: { objective: 'Fix the login\n\nIt fails at night.' } },
      task: expect.stringMatching(/^login-[0-9a-f]{16}$/),
    });
  });

  test('is another task in another place or by another approval, and the same by other line ends', async () => {
    await using temp = await tempDir();
    const second = APPROVED.replace('true', '2');
    await laid(temp.path, { 'p/login.md': APPROVED, 'q/login.md': APPROVED, 'r/login.md': second });
    const [first, elsewhere] = [await read(temp.path, 'p'), await read(temp.path, 'q')];
    const tasks = [first, elsewhere, await read(temp.path, 'r')].map((one) => one.is === 'approved' && one.task);
    expect(new Set(tasks).size).toBe(3);
    await laid(temp.path, { 'p/login.md': `\ufeff${APPROVED.replaceAll('\n', '\r\n')}` });
    expect(await read(temp.path, 'p')).toEqual(first);
    await laid(temp.path, { 'p/login.md': APPROVED.replace('night', 'noon') });
    const changed = await read(temp.path, 'p');
    expect(changed).toMatchObject({ task: (first as { task: string }).task });
    expect((changed as { text: string }).text).not.toBe((first as { text: string }).text);
  });

  test('is the same one in every clone of a remote, and wherever it lies by its id', async () => {
    await using temp = await tempDir();
    await laid(temp.path, { 'one/p/login.md': APPROVED });
    git(`${temp.path}/one`, 'init', '-q', '-b', 'main');
    git(`${temp.path}/one`, 'remote', 'add', 'origin', 'git@example.com:o/shop.git');
    await laid(temp.path, { 'else/where/p/login.md': APPROVED });
    git(`${temp.path}/else/where`, 'init', '-q', '-b', 'main');
    git(`${temp.path}/else/where`, 'remote', 'add', 'origin', 'https://me:key@example.com/o/shop');
    expect(await read(temp.path, 'one/p')).toEqual(await read(temp.path, 'else/where/p'));
    const named = APPROVED.replace('approved', 'id: log-in\napproved');
    await laid(temp.path, { 'a/x.md': named, 'b/y.md': named });
    expect(await read(temp.path, 'a')).toEqual(await read(temp.path, 'b'));
  });

  test.each<[string, string | Buffer, string]>([
    ['p/approved/empty.md', ' \n', 'is empty'],
    ['p/approved/binary.md', Buffer.from([0, 1, 2, 255]), 'is not text'],
    ['p/approved/latin.md', Buffer.from([0x23, 0x20, 0xe9, 0x0a]), 'is not text'],
    ['p/approved/huge.md', 'x'.repeat(1_000_001), 'is larger than 1 MB'],
    ['p/huge.md', `---\napproved: true\n---\n${'x'.repeat(1_000_001)}`, 'is larger than 1 MB'],
    ['p/key.md', '---\napproved: true\ncolour: red\n---\n# A\n', 'line 3: colour is not a known field'],
    ['p/word.md', '---\napproved: yes\n---\n# A\n', 'approved must be true, false, or the number of the approval'],
    ['p/yaml.md', '---\napproved: true\ntitle: "a\n---\n# A\n', 'line 3: the front matter is no valid YAML'],
    ['p/list.yaml', '- approved: true\n', 'must hold the fields of one task'],
  ])('%s is refused', async (path, text, why) => {
    await using temp = await tempDir();
    await laid(temp.path, { [path]: text });
    const [found] = await findFiles('p', temp.path);
    const proposal = await readProposal(found!, new Places());
    // A list says nothing of an approval.
    if (path === 'p/list.yaml') expect(proposal).toEqual({ is: 'proposed' });
    else expect(proposal).toEqual({ is: 'refused', why: expect.stringContaining(why) });
  });

  test.each<[string, string | Buffer]>([
    ['p/empty.md', ''],
    ['p/binary.md', Buffer.from([0, 1, 2])],
    ['p/huge.md', 'x'.repeat(1_000_001)],
    ['p/readme.md', '# Nothing in front\n'],
    ['p/page.md', '---\nlayout: page\n---\n# Of a web site\n'],
    ['p/no.md', '---\napproved: false\n---\n# A\n'],
    ['p/approved/no.md', '---\napproved: false\n---\n# A\n'],
  ])('nothing is said of %s, which nobody approved', async (path, text) => {
    await using temp = await tempDir();
    await laid(temp.path, { [path]: text });
    expect(await read(temp.path, 'p')).toEqual({ is: 'proposed' });
  });
});

test('a status is written beside its file, and only where it says something new', async () => {
  await using temp = await tempDir();
  const file = `${temp.path}/a.md`;
  const status = { task: 'a-1', approval: 1, text: '0'.repeat(16), state: 'queued' };
  expect(await readStatus(file)).toBeUndefined();
  await writeStatus(file, status, undefined);
  const first = await readStatus(file);
  expect(first).toMatchObject(status);
  const text = await readFile(`${file}.status`, 'utf8');
  await writeStatus(file, { ...status }, first);
  expect(await readFile(`${file}.status`, 'utf8')).toBe(text);
  await writeFile(`${file}.status`, 'task: [');
  expect(await readStatus(file)).toBeUndefined();
});
