import { describe, expect, test } from '@jest/globals';
import { submoduleOrigin } from '../../../src/domain/repository/submodule.ts';

describe('where a submodule is fetched from', () => {
  test.each<[string, string, string]>([
    ['https://host/lib.git', 'https://host/app.git', 'https://host/lib.git'],
    ['ssh://git@host:22/lib.git', '/home/u/app', 'ssh://git@host:22/lib.git'],
    ['git@host:org/lib.git', 'https://host/app.git', 'git@host:org/lib.git'],
    ['../lib.git', 'https://host/org/app.git', 'https://host/org/lib.git'],
    ['../../other/lib.git', 'https://host/org/app.git/', 'https://host/other/lib.git'],
    ['./lib', 'https://host/org/app', 'https://host/org/app/lib'],
    ['../lib.git', 'git@host:org/app.git', 'git@host:org/lib.git'],
    ['../../lib.git', 'git@host:org/app.git', 'git@host:lib.git'],
    ['../lib.git', 'ssh://git@host/org/app.git', 'ssh://git@host/org/lib.git'],
    ['../lib', '/srv/git/app', '/srv/git/lib'],
    ['/srv/git/lib', '/srv/git/app', '/srv/git/lib'],
    ['../lib.git', 'file:///srv/git/app.git', 'file:///srv/git/lib.git'],
    ['../lib.git', 'http://host/org/app.git', 'http://host/org/lib.git'],
  ])('%s, as %s names it, is %s', (url, above, repo) => {
    expect(submoduleOrigin(url, above)).toMatchObject({ ok: true, repo });
  });

  test.each<[string, string, RegExp]>([
    ['ext::sh -c touch% x', '/srv/app', /must be an https, ssh or file URL/],
    ['ext::sh', 'https://host/app', /must be an https/],
    ['fd::3', '/srv/app', /must be an https/],
    ['git://host/lib', '/srv/app', /must be an https/],
    ['http://host/lib', 'https://host/app', /must be an https/],
    ['ftp://host/lib', '/srv/app', /must be an https/],
    ['--upload-pack=touch x', '/srv/app', /must be an https/],
    ['-u', 'https://host/app', /must be an https/],
    ['ssh://-oProxyCommand=touch x/lib', 'https://host/app', /must be an https/],
    ['ssh://host/-x', 'https://host/app', /must be an https/],
    ['git@-oProxyCommand=x:lib', 'https://host/app', /must be an https/],
    ['https://-x/lib', 'https://host/app', /must be an https/],
    ['lib', 'https://host/app', /must be an https/],
    ['', 'https://host/app', /must be an https/],
    ['/home/u/secret', 'https://host/app', /is a path, and https:\/\/host\/app is none/],
    ['file:///home/u/secret', 'git@host:app', /is a path/],
    ['file://other/share', '/srv/app', /must be an https/],
    ['../../../lib', 'https://host/org/app', /leads out of/],
    ['../../lib', 'git@host:app', /leads out of/],
    ['../../../lib', '/srv/app', /leads out of/],
    ['https://host/a\nb', 'https://host/app', /control characters|must be an https/],
    ['https://u:hush@host /x', 'https://host/app', /^its URL https:\/\/host \/x must/],
  ])('%j, as %s names it, is refused', (url, above, why) => {
    expect(submoduleOrigin(url, above)).toMatchObject({ ok: false, why: expect.stringMatching(why) });
  });
});
