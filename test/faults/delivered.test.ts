import { chmod, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { git, agent, TestFleet } from '../helpers/fleet.ts';
import { go } from './machines.ts';

test('F24: a worker that is lost right after its push: the branch stays, and the task is done by that run', async () => {
  await using fleet = await TestFleet.start();
  const bare = `${fleet.root}/bare.git`;
  await git(await fleet.repo('checkout'), 'clone', '-q', '--bare', '.', bare);
  const lease = { heartbeat: '3s', grace: '23s', selfKill: '10s' };
  const config = { coders: { wait: agent('wait-for-file.sh') }, lease };
  const lost = await fleet.worker('lost', config);
  // Only the first push is the last thing that its worker does.
  const script = `#!/bin/sh\ngrep -q refs/heads/fleet/ && mkdir ${bare}/pushed && kill -9 ${lost.pid}\n`;
  await writeFile(`${bare}/hooks/post-receive`, script);
  await chmod(`${bare}/hooks/post-receive`, 0o755);

  const id = await fleet.fleet.enqueue({ objective: 'x', repo: `file://${bare}`, coder: 'wait' });
  const first = await fleet.running(id);
  await go(first);
  await lost.exited;
  const branch = await git(bare, 'rev-parse', `refs/heads/fleet/${id}`);

  await using _ = await fleet.worker('other', config);
  const second = await fleet.running(id, 2);
  await go(second);
  expect(await fleet.settled(id)).toMatchObject({
    state: 'done',
    commit: branch,
    attempts: { used: 1 },
    runs: [
      { runId: first.runId, reason: null, commit: branch },
      { runId: second.runId, reason: 'superseded', counts: false },
    ],
  });
  expect(await git(bare, 'rev-parse', `refs/heads/fleet/${id}`)).toBe(branch);
});
