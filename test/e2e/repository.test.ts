import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';

let fleet: TestFleet;
let worker: TestWorker;

const sh = (script: string) => ({ command: ['sh', '-c', script], protocol: 'none' as const });

/** Fails at first and leaves notes; works once it finds them. */
const NOTES = `
grep -q learnt ../notes/KNOWLEDGE.md && grep -q step ../notes/PLAN_AND_STATUS.md && {
  echo made > made.txt; git add made.txt; git commit -qm made; exit 0; }
echo learnt >> ../notes/KNOWLEDGE.md; echo step >> ../notes/PLAN_AND_STATUS.md
exit 1`;

beforeAll(async () => {
  fleet = await TestFleet.start();
  const snooped = `${fleet.root}/snooped`;
  worker = await fleet.worker(
    'tasks',
    {
      // The second one is a mistake: it is a credential.
      worker: { slots: 4, env: ['FLEET_TEST_NAMED', 'ANTHROPIC_API_KEY'] },
      coders: {
        ok: agent('ok.sh'),
        notes: sh(NOTES),
        environment: sh('env > env.txt; git add -A; git commit -qm env'),
        snoop: sh(
          `{ ls -A '${fleet.root}/tasks'; cat '${fleet.root}/tasks/config.yaml'; touch '${snooped}/x' && echo wrote
             git -C '${snooped}' commit -q --allow-empty -m x; } > seen.txt 2>&1; true`,
        ),
        ready: sh(
          'cat setup.out local.env > made.txt && echo x > ignored.log && git add made.txt && git commit -qm made',
        ),
        report: sh('mkdir out && echo found > out/report.md'),
      },
    },
    { env: { FLEET_TEST_SECRET: 'hush', FLEET_TEST_NAMED: 'said', ANTHROPIC_API_KEY: 'sk-hush' } },
  );
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const ONCE = { retry: { maxAttempts: 1 } };
const drain = async (input: Partial<TaskInput>): Promise<TaskReport> =>
  fleet.settled(await fleet.fleet.enqueue({ objective: 'Add made.txt', ...input }));
const receipt = (report: TaskReport, kind: string) => report.receipts.find((each) => each.kind === kind);
const delivered = (repo: string, id: string) =>
  git(repo, 'diff', '--name-only', `main..fleet/${id}`).then((out) => out.split('\n'));

describe('a repository says what its tasks need', () => {
  test.concurrent('.fleet.yaml: setup, copied files, verification and protected files', async () => {
    const repo = await fleet.repo('asks', {
      '.fleet.yaml':
        'setup: [echo ready > setup.out]\ncopy: [local.env]\nverify: [test -s made.txt, test -s local.env]\nprotect: [keep/**]\n',
      '.gitignore': 'local.env\n*.log\n',
      'keep/me.txt': 'kept\n',
    });
    await writeFile(`${repo}/local.env`, 'KEY=1\n');
    const report = await drain({ repo, coder: 'ready' });
    expect(report).toMatchObject({ state: 'done', verdict: { acceptance: true } });
    expect(await git(repo, 'show', `fleet/${report.id}:made.txt`)).toBe('ready\nKEY=1');
    // Neither what setup and copy made, nor what is ignored.
    expect(await delivered(repo, report.id)).toEqual(['made.txt']);
  });

  test.concurrent('a command given in a folder runs there, and what .fleet.yaml says at the top', async () => {
    const files = {
      'packages/web/here.txt': 'web\n',
      '.fleet.yaml': 'setup: [test -d packages && echo ready > setup.out]\n',
    };
    const repo = await fleet.repo('folders', files);
    const verify = ['test -s here.txt; test -s ../../made.txt', 'test -s ../../setup.out && test -s here.txt'];
    const report = await drain({ repo: `${repo}/packages/web`, coder: 'ok', verify, scope: { allow: ['made.txt'] } });
    expect(report).toMatchObject({ state: 'done', repo, verdict: { acceptance: true } });
    expect(await drain({ repo, coder: 'ok', verify: [verify[1]!], ...ONCE })).toMatchObject({ state: 'parked' });
  });

  test.concurrent('a wrong .fleet.yaml parks the task with one sentence', async () => {
    const report = await drain({ repo: await fleet.repo('wrong', { '.fleet.yaml': 'verfy: [x]\n' }), coder: 'ok' });
    expect(report).toMatchObject({
      state: 'parked',
      reason: 'invalid-task',
      message: '.fleet.yaml: verfy is not a known field',
      attempts: { used: 0 },
    });
  });

  test.concurrent('so does one whose idle would never be reached, on the machine that would start the agent', async () => {
    const repo = await fleet.repo('idle', { '.fleet.yaml': 'limits: { idle: 3h }\n' });
    expect(await drain({ repo, coder: 'ok' })).toMatchObject({
      ...{ state: 'parked', reason: 'invalid-task', attempts: { used: 0 } },
      message: 'limits must have total above idle: 2h (by default) is not more than 3h (of .fleet.yaml)',
    });
    expect(await drain({ repo, coder: 'ok', limits: { total: '5m' } })).toMatchObject({ state: 'done' });
  });

  test.concurrent('a setup command that fails uses up an attempt and says why', async () => {
    const repo = await fleet.repo('broken', { '.fleet.yaml': "setup: ['echo no such tool; exit 3']\n" });
    const report = await drain({ repo, coder: 'ok', ...ONCE });
    expect(report).toMatchObject({ state: 'parked', reason: 'setup-failed', attempts: { used: 1 } });
    expect(report.message).toMatch(/`echo no such tool; exit 3` ended with 3:\nno such tool/);
  });

  test.concurrent('what cannot start on the base either parks the first run, with no attempt used', async () => {
    const parked = { state: 'parked', reason: 'check-cannot-start', attempts: { used: 0 }, runs: [{ n: 1 }] };
    const repo = await fleet.repo('no-runner');
    const verified = await drain({ repo, coder: 'ok', verify: ['no-such-runner --all'] });
    expect(verified).toMatchObject({ ...parked, verdict: { accepted: false } });
    expect(verified.message).toMatch(
      /^acceptance: no change can pass it, as it fails on the base in the same way: `no-such-runner/,
    );
    expect(verified.runs[0]?.commit).toMatch(/^[0-9a-f]{40}$/);
    const unready = await fleet.repo('no-setup', { '.fleet.yaml': 'setup: [no-such-installer]\n' });
    const set = await drain({ repo: unready, coder: 'ok' });
    expect(set).toMatchObject(parked);
    expect(set.message).toMatch(/^setup command `no-such-installer` ended with 127/);
  });

  test.concurrent('notes of one run are there for the next', async () => {
    const report = await drain({
      repo: await fleet.repo('notes'),
      coder: 'notes',
      retry: { maxAttempts: 2, backoff: '1s' },
    });
    expect(report).toMatchObject({ state: 'done', runs: [{ reason: 'agent-error' }, { reason: null }] });
    expect(await fleet.fleet.read(report.id, { file: 'knowledge' })).toMatchObject({ text: 'learnt\n' });
    expect(await fleet.fleet.read(report.id, { file: 'plan' })).toMatchObject({ text: 'step\n' });
  });

  test.concurrent('research needs no repository, and keeps its outputs', async () => {
    const report = await drain({ type: 'research', coder: 'report', artifacts: [{ path: 'out/*.md', matches: '.' }] });
    expect(report).toMatchObject({ state: 'done', branch: null });
    expect(receipt(report, 'artifacts')).toMatchObject({ ok: true });
    const outputs = `${worker.home}/tasks/${report.id}/1/outputs`;
    expect(await readFile(`${outputs}/out/report.md`, 'utf8')).toBe('found\n');
  });

  test.concurrent('an output that is missing rejects', async () => {
    const report = await drain({ type: 'research', coder: 'report', artifacts: ['*.pdf'], ...ONCE });
    expect(report).toMatchObject({ state: 'parked', reason: 'receipts-rejected' });
    expect(receipt(report, 'artifacts')).toMatchObject({ ok: false });
  });

  test.concurrent('a URL runs anywhere: fetched, and the branch pushed, by a worker of another machine', async () => {
    const origin = await fleet.repo('origin');
    const bare = `${fleet.root}/origin.git`;
    await git(fleet.root, 'clone', '-q', '--bare', origin, bare);
    await using far = await fleet.worker('far', {
      machine: 'elsewhere',
      worker: { queues: ['far'] },
      coders: { ok: agent('ok.sh') },
    });
    const report = await drain({ repo: `file://${bare}`, queue: 'far', coder: 'ok', verify: ['test -s made.txt'] });
    expect(report).toMatchObject({
      state: 'done',
      branch: `fleet/${report.id}`,
      runs: [{ worker: far.name, machine: 'elsewhere' }],
    });
    expect(await git(bare, 'log', '--format=%s', `main..fleet/${report.id}`)).toBe('Add made.txt');
    expect(await git(bare, 'rev-parse', `fleet/${report.id}`)).toBe(report.commit);
  });
});

describe('what an agent sees', () => {
  test.concurrent('its environment is an allow-list, and HOME its own', async () => {
    const repo = await fleet.repo('env');
    const report = await drain({ repo, coder: 'environment', env: ['FLEET_TEST_NAMED'] });
    expect(report.state).toBe('done');
    const env = await git(repo, 'show', `fleet/${report.id}:env.txt`);
    expect(env).toContain('FLEET_TEST_NAMED=said');
    expect(env).not.toMatch(/hush|TEMPORAL|FLEET_HOME/);
    expect(env).toContain(`HOME=${worker.home}/runs/${report.id}/${report.runs[0]!.runId}/work/home`);
  });

  test.concurrent('a variable that its worker does not list is refused, and a credential that it lists', async () => {
    const asking = (name: string) => drain({ type: 'research', coder: 'environment', env: [name] });
    for (const name of ['FLEET_TEST_SECRET', 'ANTHROPIC_API_KEY'])
      await expect(asking(name)).rejects.toThrow(
        `env must not have ${name}: worker ${worker.name} gives it to no task; worker.env of its configuration lists what a task may ask for, and no credential can be in it`,
      );
    // Who goes to the server directly is told by the worker.
    const start = async (workflowId: string, env: string[]) => {
      const args = [{ objective: 'Tell', type: 'research', coder: 'environment', env }];
      await fleet.client.workflow.start('agentTask', { workflowId, taskQueue: 'fleet', args });
      return fleet.settled(workflowId);
    };
    expect(await start('asks-for-a-secret', ['FLEET_TEST_SECRET'])).toMatchObject({
      ...{ state: 'parked', reason: 'env-refused' },
      message: `env must not have FLEET_TEST_SECRET: worker ${worker.name} gives it to no task; worker.env of its configuration lists those that it gives`,
    });
    expect(await start('asks-for-a-key', ['FLEET_TEST_NAMED', 'ANTHROPIC_API_KEY'])).toMatchObject({
      ...{ state: 'parked', reason: 'env-refused', attempts: { used: 0 } },
      message: 'env must not have ANTHROPIC_API_KEY: it is a credential of coder claude, which no task gets',
    });
  });

  test.concurrent("FLEET_HOME is hidden from it, and the user's checkout read-only", async () => {
    const repo = await fleet.repo('snooped');
    const head = await git(repo, 'rev-parse', 'HEAD');
    const report = await drain({ repo, coder: 'snoop' });
    expect(report.state).toBe('done');
    const seen = await git(repo, 'show', `fleet/${report.id}:seen.txt`);
    expect(seen.split('\n').slice(0, 2)).toEqual(['bases', 'runs']);
    expect(seen).toMatch(/config\.yaml.*No such file/);
    expect(seen).toMatch(/touch.*Read-only file system/);
    expect(seen).not.toContain('wrote');
    expect(await git(repo, 'rev-parse', 'HEAD')).toBe(head);
    expect(existsSync(`${repo}/x`)).toBe(false);
  });
});
