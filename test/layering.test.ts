import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { tempDir } from './helpers/temp.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const oxlint = `${root}/node_modules/.bin/oxlint`;

/** What may be imported by what, as style.md has it: dependencies point one way. */
const TARGETS: Record<string, string> = {
  domain: '#/domain/task/schema.ts',
  ports: '#/ports.ts',
  config: '#/config.ts',
  adapters: '#/adapters/program/process.ts',
  coders: '#/coders/registry.ts',
  receipts: '#/receipts/bundle/seal.ts',
  producers: '#/producers/spec.ts',
  activities: '#/activities/index.ts',
  workflows: '#/workflows/agent-task.ts',
  attributes: '#/search-attributes.ts',
  messages: '#/workflows/messages.ts',
  client: '#/client.ts',
  workers: '#/workers/worker.ts',
  channels: '#/channels/index.ts',
  cli: '#/cli/run.ts',
  execa: 'execa',
  fs: 'node:fs/promises',
  net: 'node:net',
  'sdk-client': '@temporalio/client',
  'sdk-worker': '@temporalio/worker',
  'sdk-workflow': '@temporalio/workflow',
};
const ALLOWED: Record<string, string[]> = {
  'domain/planted.ts': ['domain'],
  'domain/room/planted.ts': ['domain'],
  'ports.ts': ['domain'],
  'config.ts': ['domain', 'config', 'fs', 'net'],
  'workflows/planted.ts': ['domain', 'workflows', 'attributes', 'messages', 'sdk-workflow'],
  'workflows/room/planted.ts': ['domain', 'workflows', 'attributes', 'messages', 'sdk-workflow'],
  'coders/planted.ts': ['domain', 'ports', 'coders'],
  'coders/room/planted.ts': ['domain', 'ports', 'coders'],
  'drivers/planted.ts': ['domain', 'coders', 'fs', 'net'],
  'mcp/planted.ts': ['domain', 'fs', 'net'],
  'adapters/planted.ts': [
    'attributes',
    'domain',
    'ports',
    'config',
    'adapters',
    'execa',
    'fs',
    'net',
    'sdk-client',
    'sdk-worker',
  ],
  'adapters/deep/planted.ts': [
    'attributes',
    'domain',
    'ports',
    'config',
    'adapters',
    'execa',
    'fs',
    'net',
    'sdk-client',
    'sdk-worker',
  ],
  'receipts/planted.ts': ['attributes', 'domain', 'ports', 'adapters', 'receipts', 'fs'],
  'producers/planted.ts': ['domain', 'producers'],
  'activities/planted.ts': [
    'attributes',
    'domain',
    'ports',
    'config',
    'adapters',
    'coders',
    'receipts',
    'activities',
    'fs',
  ],
  'client.ts': ['attributes', 'domain', 'ports', 'config', 'adapters', 'messages', 'client', 'fs', 'sdk-client'],
  'client/planted.ts': [
    'attributes',
    'domain',
    'ports',
    'config',
    'adapters',
    'messages',
    'client',
    'fs',
    'sdk-client',
  ],
  'client/room/planted.ts': [
    'attributes',
    'domain',
    'ports',
    'config',
    'adapters',
    'messages',
    'client',
    'fs',
    'sdk-client',
  ],
  'workers/planted.ts': Object.keys(TARGETS).filter((name) => name !== 'cli'),
  'producers/git-queue/planted.ts': [
    'attributes',
    'domain',
    'ports',
    'config',
    'adapters',
    'client',
    'producers',
    'fs',
  ],
  'channels/planted.ts': ['attributes', 'domain', 'config', 'adapters', 'client', 'channels', 'execa', 'fs'],
  'channels/service/planted.ts': ['attributes', 'domain', 'config', 'adapters', 'client', 'channels', 'fs'],
  'producers/ship/planted.ts': ['attributes', 'domain', 'ports', 'config', 'adapters', 'client', 'producers', 'fs'],
  'cli/planted.ts': [
    'attributes',
    'domain',
    'config',
    'coders',
    'receipts',
    'producers',
    'client',
    'workers',
    'channels',
    'cli',
    'execa',
    'fs',
    'net',
  ],
  'cli/deep/planted.ts': [
    'attributes',
    'domain',
    'config',
    'coders',
    'receipts',
    'producers',
    'client',
    'workers',
    'channels',
    'cli',
    'execa',
    'fs',
    'net',
  ],
};
/** Where the types may be seen of what may not be used. */
const TYPES: Record<string, string[]> = {
  'workflows/planted.ts': ['activities'],
  'workflows/room/planted.ts': ['activities'],
  'coders/planted.ts': ['config'],
  'coders/room/planted.ts': ['config'],
  'client.ts': ['workflows'],
};

interface Found {
  diagnostics: { code: string; filename: string; labels: { span: { line: number } }[] }[];
}

const RULE = 'eslint(no-restricted-imports)';

/** Lines with a forbidden import, as `file:line`. */
async function lint(cwd: string): Promise<string[]> {
  const { stdout } = await execa(oxlint, ['--format', 'json', '.'], { cwd, reject: false });
  const { diagnostics } = JSON.parse(stdout) as Found;
  return diagnostics
    .filter(({ code }) => code === RULE)
    .map(({ filename, labels }) => `${filename}:${labels[0]?.span.line}`);
}

/** As the file would write it: `./` for its own folder. */
function specifier(file: string, target: string): string {
  if (!target.startsWith('#/')) return target;
  const path = posix.relative(posix.dirname(file), target.slice(2));
  return path.startsWith('.') ? path : `./${path}`;
}

/** Plants a file that imports every target, one a line, and gives the targets that lint refuses. */
async function refused(statement: (from: string, i: number) => string): Promise<Record<string, string[]>> {
  await using temp = await tempDir();
  await copyFile(`${root}/.oxlintrc.json`, `${temp.path}/.oxlintrc.json`);
  for (const file of Object.keys(ALLOWED)) {
    const lines = Object.values(TARGETS).map((target, i) => statement(specifier(file, target), i));
    await mkdir(dirname(`${temp.path}/src/${file}`), { recursive: true });
    await writeFile(`${temp.path}/src/${file}`, `${lines.join('\n')}\n`);
  }
  const found = await lint(temp.path);
  const names = Object.keys(TARGETS);
  return Object.fromEntries(
    Object.keys(ALLOWED).map((file) => [file, names.filter((_, i) => found.includes(`src/${file}:${i + 1}`))]),
  );
}

test('each forbidden import is red, and each allowed one is green', async () => {
  const expected = Object.entries(ALLOWED).map(([file, allowed]) => [
    file,
    Object.keys(TARGETS).filter((name) => !allowed.includes(name)),
  ]);
  expect(await refused((from, i) => `import * as planted${i} from '${from}';`)).toEqual(Object.fromEntries(expected));
});

test('types may be seen where only the use is forbidden', async () => {
  const found = await refused((from, i) => `import type { Planted as Planted${i} } from '${from}';`);
  for (const [file, names] of Object.entries(TYPES)) {
    expect(found[file]).toEqual(
      Object.keys(TARGETS).filter((name) => !ALLOWED[file]!.includes(name) && !names.includes(name)),
    );
  }
});

test('every folder of src has its line in the table', async () => {
  const folders = (await readdir(`${root}/src`, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  expect(folders.filter(({ name }) => !ALLOWED[`${name}/planted.ts`]).map(({ name }) => name)).toEqual([]);
});

test('the tree itself is green', async () => {
  expect(await lint(root)).toEqual([]);
});
