import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { admitTasks } from '../../../src/client/start/admit.ts';
import type { FleetConnection } from '../../../src/client/connection.ts';
import { schema } from '../../../src/config-schema.ts';
import { makeRepo } from '../../helpers/git.ts';
import { tempDir } from '../../helpers/temp.ts';

test('rules that one repository has are not those of another of the same batch', async () => {
  await using temp = await tempDir();
  const repo = (name: string, file: string) => {
    const dir = join(temp.path, name);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: dir });
    mkdirSync(dir);
    writeFileSync(join(dir, file), '{"type":"object"}');
    git('init', '-q');
    git('add', '-A');
    git('-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-qm', 'Base');
    return { input: { objective: 'x', type: 'research', repo: dir, artifacts: [{ path: 'a', schema: 's.json' }] } };
  };
  const wire = { config: { ...schema.parse({}), queues: ['fleet'] } } as unknown as FleetConnection;
  const [one, other] = [repo('one', 's.json'), repo('other', 'else.json')];
  await expect(admitTasks(wire, [one])).resolves.toHaveLength(1);
  await expect(admitTasks(wire, [one, other])).rejects.toThrow(/^artifacts\[0\]\.schema s\.json is no file/);
});

test('what is said of one task is not what is said of another of the same batch with another scope', async () => {
  await using temp = await tempDir();
  makeRepo(`${temp.path}/repo`, { 'a.js': '' });
  const wire = { config: { ...schema.parse({}), queues: ['fleet'] } } as unknown as FleetConnection;
  const order = (scope: object) => ({
    input: { objective: 'x', repo: `${temp.path}/repo`, scope, verify: ['sh test/new.test.js'] },
  });
  const admitted = await admitTasks(wire, [order({ allow: ['**'] }), order({ allow: ['a.js'] })]);
  expect(admitted.map(({ notes }) => notes)).toEqual([
    [],
    [
      '`sh test/new.test.js` cannot pass: test/new.test.js is not in the base, and it is outside of what may be changed',
    ],
  ]);
});
