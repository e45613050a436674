import { expect, test } from '@jest/globals';
import { mkdirSync } from 'node:fs';
import { environment } from '../../../src/activities/worker/environment.ts';
import { tempDir } from '../../helpers/temp.ts';

test('programs that choose a version find their toolchains although HOME is another one', async () => {
  await using temp = await tempDir();
  mkdirSync(`${temp.path}/.rustup`);
  mkdirSync(`${temp.path}/elsewhere`);
  const from = { HOME: temp.path, VOLTA_HOME: `${temp.path}/elsewhere`, JAVA_HOME: '/opt/java', SECRET: 'x' };
  expect(environment(from, [], { HOME: '/other' })).toEqual({
    ...{ RUSTUP_HOME: `${temp.path}/.rustup`, VOLTA_HOME: `${temp.path}/elsewhere` },
    ...{ JAVA_HOME: '/opt/java', HOME: '/other' },
  });
  expect(environment({}, [], {})).toEqual({});
});
