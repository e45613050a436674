import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestFleet } from '../helpers/fleet.ts';
import { startModelServer, type ModelServer } from '../helpers/model-server.ts';
import { until } from '../helpers/until.ts';
import { agentBinaries, FOLDER } from './binaries.ts';
import { HELLO } from './scenario.ts';

/** Whole tasks with the real binaries of coders whose user has a gateway: its key goes there, and nothing goes to a vendor. */

const PI = [process.execPath, join(FOLDER, 'node_modules/@mariozechner/pi-coding-agent/dist/cli.js')];
const KEY = 'sk-meant-for-the-gateway';

let fleet: TestFleet;
let model: ModelServer;
let repo: string;
/** Hosts that a worker, its proxy or an agent wanted to reach other than on loopback. */
const hosts: string[] = [];
const wayOut = createServer((_, response) => response.writeHead(502).end()).on('connect', ({ url }, socket) => {
  hosts.push(url ?? '');
  socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
});

beforeAll(async () => {
  fleet = await TestFleet.start();
  model = await startModelServer();
  repo = await fleet.repo('shop', { 'note.txt': 'hi\n' });
  await new Promise<void>((resolve) => wayOut.listen(0, '127.0.0.1', resolve));
}, 120_000);
afterAll(async () => {
  wayOut.close();
  await fleet?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
}, 60_000);

interface Case {
  coder: 'pi' | 'opencode' | 'claude';
  model?: string;
  env: (url: string) => Record<string, string>;
  /** Of the user's HOME. */
  files?: (url: string) => Record<string, string>;
}

const piConfig = (url: string, name: string) => ({
  '.pi/agent/models.json': `{ "providers": { "${name}": { "baseUrl": "${url}" } } } // mine`,
});
const opencodeConfig = (url: string, name: string) => ({
  '.config/opencode/opencode.json': JSON.stringify({ provider: { [name]: { options: { baseURL: url } } } }),
});

const CASES: Record<string, Case> = {
  'pi: OPENAI_BASE_URL': {
    coder: 'pi',
    model: 'openai/gpt-5.4',
    env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
  },
  'pi: ANTHROPIC_BASE_URL, and the CLI chooses the model': {
    coder: 'pi',
    env: (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
  },
  'pi: GOOGLE_GEMINI_BASE_URL': {
    coder: 'pi',
    model: 'google/gemini-2.5-pro',
    env: (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-of-another' }),
  },
  'pi: its own models.json': {
    coder: 'pi',
    model: 'openai/gpt-5.4',
    env: () => ({ OPENAI_API_KEY: KEY }),
    files: (url) => piConfig(`${url}/v1`, 'openai'),
  },
  'opencode: OPENAI_BASE_URL, by the model of its vendor': {
    coder: 'opencode',
    model: 'openai/gpt-5',
    env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
  },
  'opencode: OPENAI_BASE_URL, by a model without a vendor, beside another key': {
    coder: 'opencode',
    model: 'scripted',
    env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, ANTHROPIC_API_KEY: 'sk-of-another' }),
  },
  'opencode: ANTHROPIC_BASE_URL': {
    coder: 'opencode',
    model: 'anthropic/claude-sonnet-4-5',
    env: (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
  },
  'opencode: its own configuration': {
    coder: 'opencode',
    model: 'anthropic/claude-sonnet-4-5',
    env: () => ({ ANTHROPIC_API_KEY: KEY }),
    files: (url) => opencodeConfig(`${url}/v1`, 'anthropic'),
  },
  'opencode: its own login and configuration': {
    coder: 'opencode',
    model: 'anthropic/claude-sonnet-4-5',
    env: () => ({}),
    files: (url) => ({
      ...opencodeConfig(`${url}/v1`, 'anthropic'),
      '.local/share/opencode/auth.json': JSON.stringify({ anthropic: { type: 'api', key: KEY } }),
    }),
  },
  'claude: its own settings': {
    coder: 'claude',
    env: () => ({ ANTHROPIC_API_KEY: KEY }),
    files: (url) => ({ '.claude/settings.json': JSON.stringify({ env: { ANTHROPIC_BASE_URL: url } }) }),
  },
};

test.each(Object.keys(CASES))('%s', async (name) => {
  const { coder, model: named, env, files } = CASES[name]!;
  const index = `gateway-${Object.keys(CASES).indexOf(name)}`;
  const home = `${fleet.root}/user-${index}`;
  for (const [path, text] of Object.entries(files?.(model.url()) ?? {})) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  await mkdir(home, { recursive: true });
  const { port } = wayOut.address() as AddressInfo;
  const { claude, opencode } = agentBinaries();
  const command = { claude: [claude], opencode: [opencode], pi: PI }[coder];
  await using _ = await fleet.worker(
    index,
    { worker: { queues: [index] }, coders: { [coder]: { command, env: ['HTTPS_PROXY', 'NO_PROXY'] } } },
    {
      env: {
        ...env(model.url()),
        HOME: home,
        HTTPS_PROXY: `http://127.0.0.1:${port}`,
        NO_PROXY: '127.0.0.1,localhost',
      },
    },
  );
  model.script(HELLO);
  const first = model.requests.length;
  hosts.length = 0;
  const id = await fleet.fleet.enqueue({
    ...{ objective: 'Add hello.txt', repo, queue: index, coder, retry: { maxAttempts: 1 } },
    ...(named ? { model: named } : {}),
    verify: ['test "$(cat hello.txt)" = "hello from the agent"'],
  });
  const report = await until(
    async () => {
      const view = await fleet.fleet.view(id);
      return hosts.length > 0 || ['done', 'parked'].includes(view.state) ? view : undefined;
    },
    { timeoutMs: 100_000 },
  );
  expect({ hosts, state: report.state, message: report.message ?? '' }).toEqual({
    hosts: [],
    state: 'done',
    message: expect.anything(),
  });
  const asked = model.requests.slice(first).filter(({ turn }) => turn !== null);
  expect(new Set(asked.map(({ key }) => key))).toEqual(new Set([KEY.slice(-6)]));
});
