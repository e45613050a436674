import { expect } from '@jest/globals';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAgentFile } from '../../../src/adapters/sandbox/agent-file.ts';
import { SESSION_MAX } from '../../../src/adapters/git/rescue/work-record.ts';
import { isSessionId } from '../../../src/domain/agent/work-meta.ts';
import type { Coder } from '../../../src/ports.ts';
import { startModelServer, type ModelServer } from '../../helpers/model-server.ts';
import { until } from '../../helpers/until.ts';
import { only, startCoder, workspace, type LiveCoder, type Workspace } from '../run-coder.ts';
import { HELLO } from '../scenario.ts';
import { start } from './play.ts';
import type { Subject } from './subject.ts';

/** What one run's HOME had of a session is all that another machine gets. */
export async function resumed(subject: Subject): Promise<void> {
  using here = workspace();
  await using server = await startModelServer([...HELLO.slice(0, 2), { stall: 'silent' }]);
  const live = start(subject, server, { at: here });
  await until(() => server.requests.some(({ turn }) => turn === 2), { timeoutMs: 60_000 });
  await written(subject, server, { here, live });
  await live.kill();
  await goesOn(subject, server, { here, live });
}

/** Its shell commands have sessions of their own and outlive it here; a keeper kills these as well. */
export async function killedAndResumed(subject: Subject): Promise<void> {
  using here = workspace();
  const file = join(here.dir, 'tmp/pid');
  const sh = `echo $$ > '${file}'; exec sleep 300`;
  await using server = await startModelServer([...HELLO.slice(0, 2), { text: 'Now I wait.', tools: [{ sh }] }]);
  const live = start(subject, server, { at: here });
  const pid = await until(() => existsSync(file) && Number(readFileSync(file, 'utf8')), { timeoutMs: 60_000 });
  expect(live.over()).toBe(false);
  await written(subject, server, { here, live });
  await live.kill();
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // A CLI behind a driver sees its end, and may end its commands.
  }
  rmSync(file);
  expect(only(live.run.events, 'ended')).toEqual([]);
  await goesOn(subject, server, { here, live });
}

/** Its session is there: some write it a moment later. */
async function written(
  subject: Subject,
  server: ModelServer,
  { here, live }: { here: Workspace; live: LiveCoder },
): Promise<void> {
  const { coder } = subject.setup(server.url());
  const names = coder.sessionFile!(only(live.run.events, 'started')[0]!.session!);
  const read = () => readAgentFile({ root: here.home, names, maxBytes: SESSION_MAX });
  await until(async () => (await read())?.bytes.includes('I will read the note first.'), { timeoutMs: 30_000 });
}

async function goesOn(
  subject: Subject,
  server: ModelServer,
  { here, live }: { here: Workspace; live: LiveCoder },
): Promise<void> {
  const { coder, ...setup } = subject.setup(server.url());
  const session = only(live.run.events, 'started')[0]!.session!;
  expect(isSessionId(session)).toBe(true);
  using there = workspace();
  const { file, bytes } = await carried(coder, { session, here, there });
  // As the worktree would be laid out.
  writeFileSync(join(there.tree, 'hello.txt'), 'hello from the agent\n');

  server.script(HELLO.slice(2));
  const first = server.requests.length;
  const resume = { id: session, file };
  const run = await startCoder(coder, there, { ...setup, resume, prompt: 'Please go on.' }).ended;
  expect({ exitCode: run.exitCode, stderr: run.exitCode ? run.stderr : '' }).toEqual({ exitCode: 0, stderr: '' });
  expect(only(run.events, 'started')).toMatchObject([{ session }]);
  expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: true });
  // The earlier run's tokens are not this one's.
  const output = only(run.events, 'usage').reduce((sum, usage) => sum + usage.output, 0);
  if (!subject.countsAgain) expect(output).toBeLessThanOrEqual(90);
  expect(there.git('log', '--format=%s')).toBe('Add hello.txt\nbase\n');
  // The model sees what it said and did on the other machine, then the new prompt.
  const asked = server.requests[first]!.body;
  expect(asked).toContain('I will read the note first.');
  expect(asked.split('Please add hello.txt.').length - 1).toBe(1);
  expect(asked).toContain('Please go on.');
  // What the next machine would get is one session still.
  const again = await readAgentFile({ root: there.home, names: coder.sessionFile!(session), maxBytes: SESSION_MAX });
  expect(again!.bytes.length).toBeGreaterThan(bytes);
}

async function carried(
  coder: Coder,
  { session, here, there }: { session: string; here: Workspace; there: Workspace },
): Promise<{ file: string; bytes: number }> {
  const found = await readAgentFile({ root: here.home, names: coder.sessionFile!(session), maxBytes: SESSION_MAX });
  expect(found?.bytes.length).toBeGreaterThan(0);
  const file = join(there.dir, found!.name);
  writeFileSync(file, found!.bytes);
  return { file, bytes: found!.bytes.length };
}
