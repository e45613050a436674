import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { git, TestFleet, type TestWorker } from '../helpers/fleet.ts';

const TOKEN = 'corral-7/battery+staple';
const PRIVATE = 'k-of-the-coder-31415';
const AWS = ['AK', 'IA', 'Q7ZRKX2LWVB3NF5J'].join('');

let fleet: TestFleet;
let worker: TestWorker;

/** Says what it does in every way that is kept. */
const SAYS = `printf 'corral-7'; printf '/battery+staple\\n' ; printf 'x%s' "$DEPLOY_TOKEN" | base64
printf '{"t":"%s %s"}\\n' "$DEPLOY_TOKEN" "$MINE_KEY" >&2
echo "note $DEPLOY_TOKEN" >> ../notes/KNOWLEDGE.md
echo made > made.txt; git add made.txt; git commit -qm "with $DEPLOY_TOKEN"
echo "done with $DEPLOY_TOKEN and $MINE_KEY"`;
const sh = (script: string) => ({ command: ['sh', '-c', script], protocol: 'none' as const, env: ['MINE_KEY'] });

beforeAll(async () => {
  fleet = await TestFleet.start();
  worker = await fleet.worker(
    'secrets',
    {
      worker: { slots: 2, env: ['DEPLOY_TOKEN'] },
      coders: {
        says: sh(SAYS),
        commits: sh(`echo 'key: ${AWS}' > conf.yaml; git add -A; git commit -qm conf; git rm -q conf.yaml
          printf 'a\\n%s\\n' "$DEPLOY_TOKEN" > b.txt; git add -A; git commit -qm more`),
        fixture: sh(`mkdir -p fixtures; echo 'key: ${AWS}' > fixtures/conf.yaml; git add -A; git commit -qm conf`),
      },
      secrets: { ignore: { paths: ['fixtures'] } },
    },
    { env: { DEPLOY_TOKEN: TOKEN, MINE_KEY: PRIVATE } },
  );
}, 120_000);
afterAll(() => fleet[Symbol.asyncDispose]());

const drain = async (input: Partial<TaskInput>) =>
  fleet.settled(await fleet.fleet.enqueue({ objective: 'Work', env: ['DEPLOY_TOKEN'], ...input }));
const forms = [TOKEN, PRIVATE, Buffer.from(`x${TOKEN}`).toString('base64').slice(2, 24)];

/** Files of the worker's home that hold one. */
async function holders(): Promise<string[]> {
  const args = forms.flatMap((form) => ['-e', form]);
  const { stdout } = await execa('grep', ['-rlaF', ...args, worker.home], { reject: false });
  return stdout.split('\n').filter(Boolean);
}

test('what an agent says of a credential and of a listed variable stands nowhere, and is counted', async () => {
  const repo = await fleet.repo('says', {
    '.fleet.yaml': 'verify: ["printf corral-7; echo /battery+staple; test -s made.txt"]\n',
  });
  const report = await drain({ repo, coder: 'says' });
  expect(report.state).toBe('done');
  const exit = report.receipts.find(({ kind }) => kind === 'exit');
  expect(exit).toMatchObject({
    evidence: { redacted: 6 },
    summary: expect.stringContaining('6 secrets in its output were masked'),
  });
  const { text } = await fleet.fleet.read(report.id, { file: 'log' });
  expect(text).toContain('done with [DEPLOY_TOKEN]********* and [MINE_KEY]**********');
  expect(JSON.stringify(report)).toContain('[DEPLOY_TOKEN]');
  const history = JSON.stringify(await fleet.client.workflow.getHandle(report.id).fetchHistory());
  const payloads = [...history.matchAll(/"data":"([^"]+)"/g)].map(([, data]) =>
    Buffer.from(data!, 'base64').toString(),
  );
  for (const form of forms) expect(history + payloads.join('') + worker.output()).not.toContain(form);
  // The agent's own commit is in its repository, whatever its message says.
  expect((await holders()).filter((file) => !/\/(?:bases|mirrors|vault)\//.test(file))).toEqual([]);
  expect((await fleet.cli(['task', report.id, '--json'])).stdout).not.toMatch(/corral-7\/|31415/);
});

test('a result that would deliver a secret is parked, and told where it is', async () => {
  const repo = await fleet.repo('commits');
  const report = await drain({ repo, coder: 'commits' });
  expect(report).toMatchObject({ state: 'parked', reason: 'secret-found' });
  const said = report.receipts.find(({ kind }) => kind === 'secrets')!.summary;
  expect(said).toMatch(
    /^2 secrets would be delivered: the value of DEPLOY_TOKEN in b\.txt:2, an AWS access key in conf\.yaml:1 \(commit [0-9a-f]{12}\); secrets\.ignore of the worker's configuration says which are none$/,
  );
  expect(JSON.stringify(report)).not.toMatch(new RegExp(`${AWS}|corral-7/`));
  expect(await git(repo, 'branch', '--list', 'fleet/*')).toBe('');
  expect(await drain({ repo, coder: 'fixture' })).toMatchObject({ state: 'done' });
});
