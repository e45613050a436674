import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readAgentFile } from '../../src/adapters/agent-file.ts';
import { SESSION_MAX } from '../../src/adapters/git/work-record.ts';
import { createCoders } from '../../src/coders/registry.ts';
import { isSessionId } from '../../src/domain/work-meta.ts';
import { startModelServer } from '../helpers/model-server.ts';
import { only, runCoder, workspace } from './run-coder.ts';
import { HELLO, scripted } from './scenario.ts';

/** What one run's HOME had of a session is all that another machine gets. */
test.each(['claude', 'codex'])('%s goes on in its session on another machine', async (name) => {
  using here = workspace();
  using there = workspace();
  await using server = await startModelServer([...HELLO.slice(0, 2), { fail: 'overloaded', times: Infinity }]);
  const setup = scripted(server);
  const coder = createCoders(setup.coders).get(name)!;
  const cut = await runCoder(coder, here, setup.env);
  const session = only(cut.events, 'started')[0]!.session!;
  expect(isSessionId(session)).toBe(true);
  const found = await readAgentFile({ root: here.home, names: coder.sessionFile!(session), maxBytes: SESSION_MAX });
  expect(found?.bytes.at(-1)).toBe(10);
  const file = join(there.dir, found!.name);
  writeFileSync(file, found!.bytes);
  // As the worktree would be laid out.
  writeFileSync(join(there.tree, 'hello.txt'), 'hello from the agent\n');

  server.script(HELLO.slice(2));
  const first = server.requests.length;
  const run = await runCoder(coder, there, setup.env, { id: session, file });
  expect({ exitCode: run.exitCode, stderr: run.exitCode ? run.stderr : '' }).toEqual({ exitCode: 0, stderr: '' });
  expect(only(run.events, 'started')).toMatchObject([{ session }]);
  expect(run.events.at(-1)).toMatchObject({ type: 'ended', ok: true });
  expect(there.git('log', '--format=%s')).toBe('Add hello.txt\nbase\n');
  // The model sees what it said and did on the other machine, then the new prompt.
  const asked = server.requests[first]!.body;
  expect(asked).toContain('I will read the note first.');
  expect(asked.split('Please add hello.txt.').length - 1).toBe(2);
  // What the next machine would get is one session still.
  const again = await readAgentFile({ root: there.home, names: coder.sessionFile!(session), maxBytes: SESSION_MAX });
  expect(again!.bytes.length).toBeGreaterThan(found!.bytes.length);
});
