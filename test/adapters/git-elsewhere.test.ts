import { expect, test } from '@jest/globals';
import { rmSync, utimesSync } from 'node:fs';
import { differences, lookElsewhere } from '../../src/adapters/git/capture/tamper-check.ts';
import { git, makeLab, write } from '../helpers/git.ts';
import { tempDir } from '../helpers/temp.ts';

test('what became of the user\u2019s repository and of our stores', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path);
  const mirror = lab.home.mirror('repo');
  git('/', 'clone', '-q', '--bare', lab.repo, mirror);
  const look = () => lookElsewhere({ checkout: `${lab.repo}/.git`, stores: [lab.baseDir, mirror] });
  const before = look();
  expect(differences(before, look())).toEqual({ checkout: [], stores: [] });

  // Others fetch into the mirror, and its owner works in the repository.
  git(mirror, 'update-ref', 'refs/origin/other', lab.base);
  write(lab.repo, { 'a.txt': 'mine\n' });
  git(lab.repo, 'commit', '-qam', 'mine');
  expect(differences(before, look())).toEqual({ checkout: ['index', 'refs'], stores: [] });
  git(lab.repo, 'checkout', '-q', '-b', 'other');
  write(lab.repo, { '.git/hooks/post-checkout': '#!/bin/sh' });
  git(lab.repo, 'config', 'core.hooksPath', '/elsewhere');
  expect(differences(before, look()).checkout.toSorted()).toEqual(['HEAD', 'config', 'hooks', 'index', 'refs']);

  write(mirror, { 'hooks/post-update': '#!/bin/sh' });
  expect(differences(before, look()).stores).toEqual(['hooks']);
  const planted = look();
  write(mirror, { 'hooks/post-update': '#!/bas' });
  utimesSync(`${mirror}/hooks/post-update`, 1, 1);
  expect(differences(planted, look()).stores).toEqual(['hooks']);
  write(lab.baseDir, { 'objects/info/alternates': '/elsewhere\n' });
  expect(differences(planted, look()).stores).toEqual(['config', 'hooks']);
  // One that was cleaned away meanwhile is no change.
  rmSync(mirror, { recursive: true });
  expect(differences(planted, look()).stores).toEqual(['config']);
});
