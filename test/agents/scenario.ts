import type { CoderDeclaration } from '../../src/coders/shared/overlay.ts';
import type { ModelServer, Turn } from '../helpers/model-server.ts';
import { agentBinaries } from './binaries.ts';

/** Reads a file, writes `hello.txt`, commits it, and says so: four model calls, 4,600 tokens in (3,100 cached), 140 out. */
export const HELLO: Turn[] = [
  {
    text: 'I will read the note first.',
    tools: [{ read: 'note.txt' }],
    usage: { input: 1_000, output: 20, cached: 100 },
  },
  {
    tools: [{ write: 'hello.txt', content: 'hello from the agent\n' }],
    usage: { input: 1_100, output: 30, cached: 900 },
  },
  {
    text: 'Now I commit.',
    tools: [{ sh: "git add -A && git commit -qm 'Add hello.txt' && git log --oneline -1" }],
    usage: { input: 1_200, output: 40, cached: 1_000 },
  },
  { text: 'All done: hello.txt is committed.', usage: { input: 1_300, output: 50, cached: 1_100 } },
];

/** Does nothing and claims the work is done. */
export const FABRICATES: Turn[] = [{ text: 'All done: hello.txt is committed, and 86/86 tests pass.' }];

/**
 * The real CLIs, talking to the scripted model: what a fleet's `config.yaml` has under `coders`, and the worker's
 * environment on top of its own. `script` names the script that both play.
 */
export const scripted = (server: ModelServer, script = 'main') => scriptedAt(server.url(script));

/** The same for a model at this base URL, without the version folder. */
export function scriptedAt(url: string): { coders: Record<string, CoderDeclaration>; env: Record<string, string> } {
  const { claude, codex } = agentBinaries();
  const provider = [
    'name="Scripted"',
    `base_url="${url}/v1"`,
    'wire_api="responses"',
    'env_key="CODEX_API_KEY"',
    'request_max_retries=1',
    'stream_max_retries=1',
  ];
  return {
    coders: {
      claude: { command: [claude] },
      // The builtin provider would try a WebSocket seven times first. A known model, so that it has apply_patch.
      codex: {
        command: [codex],
        model: 'gpt-5.5',
        args: ['-c', 'model_provider="scripted"', '-c', `model_providers.scripted={${provider.join(',')}}`],
      },
    },
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'sk-scripted-000001',
      CODEX_API_KEY: 'sk-scripted-000002',
    },
  };
}
