import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { registryHosts } from '../../../src/adapters/network/registries.ts';
import { tempDir } from '../../helpers/temp.ts';

test('the hosts that package clients are set up for, which leave nothing in the HOME', async () => {
  await using temp = await tempDir();
  const home = temp.path;
  await mkdir(`${home}/.config/go`, { recursive: true });
  await mkdir(`${home}/.cargo`);
  await writeFile(`${home}/.config/go/env`, 'GOPROXY=https://go.example\n');
  await writeFile(`${home}/.npmrc`, 'registry=https://npm.example:8443/\n');
  await writeFile(`${home}/.cargo/config.toml`, 'registry = "https://cargo.example/index"\n');
  const before = await files(home);
  // Nobody's settings but those of this HOME.
  const { PATH } = process.env;
  expect(await registryHosts({ HOME: home, PATH })).toEqual(
    expect.arrayContaining(['npm.example:8443', 'go.example', 'cargo.example']),
  );
  expect(await files(home)).toEqual(before);
});

const files = async (dir: string): Promise<string[]> =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
