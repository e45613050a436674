import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { toolServer } from '../../src/activities/output/outbox.ts';
import { readFollowUp } from '../../src/domain/people/outbox.ts';
import { startModelServer, type Turn } from '../helpers/model-server.ts';
import { REPOSITORY } from './conformance/context-row.ts';
import { COPILOT_SETUP, SETUPS } from './conformance/setups.ts';
import { only, runCoder, workspace } from './run-coder.ts';

/** The tools of a run, by the real binaries: each CLI is given the server in its own way, and its model calls them. */

const ASKS: Turn[] = [
  { tools: [{ use: 'ask_human', input: { question: 'Which one?', options: ['a', 'b'] } }] },
  { tools: [{ use: 'propose', input: { objective: 'Write it down', to: 'codex', allow: ['docs/**'] } }] },
  { text: 'I have asked.' },
];
/** Codex keeps the tools of servers out of its requests until its model looks for them. */
const FINDS: Turn[] = [{ tools: [{ find: 'ask_human propose' }] }, ...ASKS];

describe.each(Object.entries({ ...SETUPS, copilot: COPILOT_SETUP }))('%s', (name, setup) => {
  const asks = name === 'codex' ? FINDS : ASKS;

  async function play(turns: Turn[], given: boolean, files: Record<string, string> = {}) {
    using at = workspace(files);
    const outbox = join(at.dir, 'outbox');
    await using server = await startModelServer(turns);
    const { coder, ...rest } = setup(server.url());
    const mcp = given ? toolServer(outbox, ['ask_human', 'propose']) : undefined;
    const run = await runCoder(coder, at, { ...rest, ...(mcp ? { mcp } : {}) });
    const read = (path: string) => (given ? readFileSync(join(outbox, path), 'utf8') : '');
    const proposed = given ? readdirSync(join(outbox, 'follow-ups')) : [];
    return {
      run,
      untracked: at.git('ls-files', '-o'),
      requests: server.requests,
      question: read('question.json'),
      followUps: proposed.map((file) => readFollowUp(file, read(`follow-ups/${file}`))),
    };
  }

  test('its model asks a person and proposes a task', async () => {
    const { run, question, followUps } = await play(asks, true);
    expect({ code: run.exitCode, stderr: run.exitCode ? run.stderr : '' }).toEqual({ code: 0, stderr: '' });
    expect(run.events.at(-1)).toEqual({ type: 'ended', ok: true, text: 'I have asked.' });
    expect(JSON.parse(question)).toEqual({ question: 'Which one?', options: ['a', 'b'] });
    expect(followUps).toEqual([
      {
        ok: true,
        value: { to: 'codex', task: { objective: 'Write it down', scope: { allow: ['docs/**'] } } },
      },
    ]);
    const results = only(run.events, 'tool-result').filter(({ output }) => output.includes('Recorded'));
    expect(results.map(({ ok }) => ok)).toEqual([true, true]);
    expect(results[0]?.output).toContain('End your turn now');
  });

  test('with them, no server of the repository is started', async () => {
    const { run, untracked, question } = await play(asks, true, REPOSITORY);
    expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: true });
    expect(question).toContain('Which one?');
    expect(untracked).toBe('');
  });

  test('they add little to a request', async () => {
    const [without, withTools] = [await first(false), await first(true)];
    const added = withTools - without;
    process.stdout.write(`${name}: ${added} bytes more in the first request, of ${withTools}\n`);
    expect(added).toBeLessThan(4_000);

    async function first(given: boolean): Promise<number> {
      const { requests } = await play(given ? asks : [{ text: 'Done.' }], given);
      return requests.find(({ turn }) => turn === 0)?.body.length ?? 0;
    }
  });
});
