import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Inherit } from '../../../src/ports.ts';
import { startModelServer } from '../../helpers/model-server.ts';
import { agentBinaries } from '../binaries.ts';
import { startCoder, workspace, type Workspace } from '../run-coder.ts';
import { HELLO, scriptedAt } from '../scenario.ts';
import { SETUPS } from './setups.ts';
import type { Setup } from './subject.ts';

/**
 * `tsx test/agents/conformance/figures.ts`: what a coder costs beside its bare CLI, on a machine that does nothing else: time to
 * the first line and to the end of a task of four model calls, memory of all its processes, size of the first request.
 */

export interface Figure {
  firstEventMs: number;
  wholeMs: number;
  /** The most that all its processes had resident at once, in steps of 10. */
  rssMb: number;
  requestBytes: number;
}
/** `ours` inherits the repository's instructions; `bare` is started by hand in a HOME with the user's own set-up. */
export type Figures = Record<'bare' | 'ours' | 'none' | 'user', Figure>;

type Name = keyof typeof SETUPS;
const RUNS = 3;
const SKILL =
  '---\nname: house-style\ndescription: How this house writes code, and what it never does.\n---\nWrite well.\n';
const LINE = 'Prefer small functions with names that say what they give; never commit what is generated.\n';

/** A user's HOME with 4 kB of instructions and one skill for each CLI, and a repository with 2 kB of instructions. */
function place(): Workspace {
  const own = LINE.repeat(22);
  const at = workspace(
    Object.fromEntries(['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', 'QWEN.md'].map((name) => [name, own])),
  );
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(at.userHome, path)), { recursive: true });
    writeFileSync(join(at.userHome, path), text);
  };
  const homes = { '.claude': 'CLAUDE.md', '.codex': 'AGENTS.md', '.gemini': 'GEMINI.md', '.qwen': 'QWEN.md' };
  for (const [folder, file] of Object.entries({ ...homes, '.config/opencode': 'AGENTS.md' })) {
    put(`${folder}/${file}`, own + own);
    put(`${folder}/skills/house-style/SKILL.md`, SKILL);
  }
  put('.gemini/settings.json', '{"security":{"auth":{"selectedType":"gemini-api-key"}}}');
  return at;
}

/** As a person would start it without anything of ours, but for what an unattended run needs. */
function bareCommand(name: Name, url: string): string[] {
  const { claude, codex, gemini, qwen, opencode } = agentBinaries();
  const provider = scriptedAt(url).coders['codex']?.args ?? [];
  const bare: Record<Name, string[]> = {
    claude: [claude, '-p', '--output-format=stream-json', '--verbose', '--dangerously-skip-permissions'],
    codex: [codex, 'exec', '--json', '--dangerously-bypass-approvals-and-sandbox', '-m', 'gpt-5.5', ...provider, '-'],
    gemini: [...gemini, '-o', 'stream-json', '--skip-trust', '--yolo', '-m', 'gemini-2.5-pro'],
    qwen: [...qwen, '-o', 'stream-json', '--yolo', '--auth-type', 'openai', '-m', 'qwen3-coder-plus'],
    opencode: [opencode, 'run', '--format', 'json', '-m', 'fleet/scripted'],
  };
  return bare[name];
}

const keysOf = (url: string): Record<string, string> => ({
  ...scriptedAt(url).env,
  GEMINI_API_KEY: 'sk-scripted-000003',
  GOOGLE_GEMINI_BASE_URL: url,
  OPENAI_API_KEY: 'sk-scripted-000004',
  OPENAI_BASE_URL: `${url}/v1`,
});

const OPENCODE = {
  provider: {
    fleet: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: '{env:OPENAI_BASE_URL}', apiKey: '{env:OPENAI_API_KEY}' },
      models: { scripted: {} },
    },
  },
};

async function measure(name: Name, how: Inherit | 'bare'): Promise<Figure> {
  using at = place();
  await using server = await startModelServer(HELLO);
  const { coder, ...setup }: Setup = SETUPS[name](server.url());
  const started = performance.now();
  const live = how === 'bare' ? bareRun(name, at, server.url()) : ours(how);
  function ours(inherit: Inherit) {
    const run = startCoder(coder, at, { ...setup, inherit });
    return { pid: run.pid, lines: () => run.run.lines.length, ended: run.ended };
  }
  let [first, most] = [0, 0];
  const sampler = setInterval(() => {
    most = Math.max(most, residentOf(live.pid));
    if (!first && live.lines() > 0) first = performance.now() - started;
  }, 20);
  await live.ended;
  clearInterval(sampler);
  return {
    firstEventMs: Math.round(first),
    wholeMs: Math.round(performance.now() - started),
    rssMb: Math.round(most / 1_048_576 / 10) * 10,
    requestBytes: server.requests.find(({ turn }) => turn === 0)?.body.length ?? 0,
  };
}

function bareRun(name: Name, at: Workspace, url: string) {
  const [program = '', ...args] = bareCommand(name, url);
  const more = name === 'opencode' ? { OPENCODE_CONFIG_CONTENT: JSON.stringify(OPENCODE) } : {};
  const child = spawn(program, args, {
    cwd: at.tree,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: at.userHome, PWD: at.tree, IS_SANDBOX: '1', ...keysOf(url), ...more },
  });
  let lines = 0;
  child.stdout.on('data', () => (lines += 1));
  child.stdin.end('Please add hello.txt.');
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return { pid: child.pid ?? 0, lines: () => lines, ended };
}

/** Bytes of memory of a process and all that it started; what they share counts for each. */
function residentOf(root: number): number {
  const parents = new Map<number, { parent: number; pages: number }>();
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(pid), { parent: Number(fields[1]), pages: Number(fields[21]) });
    } catch {
      // It ended meanwhile.
    }
  }
  const within = (pid: number): boolean => pid === root || (pid > 1 && within(parents.get(pid)?.parent ?? 0));
  return [...parents].reduce((sum, [pid, { pages }]) => sum + (within(pid) ? pages * 4_096 : 0), 0);
}

/** The run in the middle by time. */
async function median(name: Name, how: Inherit | 'bare'): Promise<Figure> {
  const runs: Figure[] = [];
  for (let left = RUNS; left > 0; left -= 1) runs.push(await measure(name, how));
  return runs.toSorted((a, b) => a.wholeMs - b.wholeMs)[Math.floor(RUNS / 2)]!;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures: Record<string, Figures> = {};
  for (const name of Object.keys(SETUPS) as Name[]) {
    const [bare, ours, none, user] = [
      await median(name, 'bare'),
      await median(name, 'project'),
      await measure(name, 'none'),
      await measure(name, 'user'),
    ];
    figures[name] = { bare, ours, none, user };
    console.log(name, JSON.stringify(figures[name]));
  }
  writeFileSync(join(import.meta.dirname, 'figures.json'), `${JSON.stringify(figures, null, 2)}\n`);
}
