import { chmodSync } from 'node:fs';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskReport } from '../../src/client.ts';
import { workerRecordId } from '../../src/domain/names.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';
import { agent, git, TestFleet, type TestWorker } from '../helpers/fleet.ts';
import { envelopeOf } from '../helpers/bundles.ts';

let fleet: TestFleet;
let worker: TestWorker;
let repo: string;
let done: TaskReport;

const coders = { ok: agent('ok.sh'), peek: agent('peek.sh') };

beforeAll(async () => {
  fleet = await TestFleet.start();
  worker = await fleet.worker('signed', { coders });
  repo = await fleet.repo('shop');
  done = await drain({ coder: 'ok', verify: ['test -s made.txt'] });
});
afterAll(async () => fleet[Symbol.asyncDispose]());

const ONCE = { retry: { maxAttempts: 1 } };
async function drain(input: Omit<TaskInput, 'objective'>): Promise<TaskReport> {
  const id = await fleet.fleet.enqueue({ objective: 'Add made.txt', repo, ...ONCE, ...input });
  return fleet.settled(id);
}
const path = (name: string) => `${fleet.root}/${name}`;
/** Without a server or a home. */
const verifyOffline = (bundle: string, ...more: string[]) =>
  fleet.cli(['receipts', 'verify', bundle, '--keys', path('keys.json'), '--json', ...more], {
    env: { TEMPORAL_ADDRESS: '127.0.0.1:1', FLEET_HOME: '/nowhere' },
  });

describe('a run leaves a bundle', () => {
  beforeAll(async () => {
    const keys = await fleet.cli(['receipts', 'keys', '-o', path('keys.json')]);
    expect(keys).toMatchObject({ code: 0, stdout: expect.stringContaining('has 1 key, 1 new') as unknown });
  });

  test("whose verdict's digest is in the task's result, and that holds offline", async () => {
    const file = path('bundle.jsonl');
    expect((await fleet.cli(['receipts', 'export', done.id, '-o', file])).code).toBe(0);
    const { digest } = (await fleet.result(done.id)).verdict!;
    const checked = await verifyOffline(file, '--task', done.id, '--run', done.runs[0]!.runId, '--verdict', digest);
    expect(checked.code).toBe(0);
    const said = JSON.parse(checked.stdout) as { statements: { digest: string; worker: string }[] };
    expect(said).toMatchObject({ ok: true, accepted: true, commit: done.commit, base: done.base, verdict: digest });
    expect(said.statements.slice(1).map((each) => each.digest)).toEqual([
      ...done.receipts.map((receipt) => receipt.digest),
      digest,
    ]);
    expect(said.statements.every((each) => each.worker === worker.name)).toBe(true);
    const forged = (await readFile(file, 'utf8')).split('\n').toSpliced(2, 1).join('\n');
    await writeFile(path('forged.jsonl'), forged);
    expect(JSON.parse((await verifyOffline(path('forged.jsonl'))).stdout)).toMatchObject({ problem: 'chain', line: 3 });
  });

  test('also where it was rejected', async () => {
    const { id } = await drain({ coder: 'ok', verify: ['false'] });
    const { stdout } = await fleet.cli(['receipts', 'export', id]);
    await writeFile(path('rejected.jsonl'), stdout);
    const checked = await verifyOffline(path('rejected.jsonl'));
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true, accepted: false });
  });

  test("with the worker's key, which its record has", async () => {
    const { stdout } = await fleet.cli(['workers', '--json']);
    const [known] = JSON.parse(stdout) as { publicKey: { id: string }; recipient: string }[];
    const [line = ''] = (await fleet.cli(['receipts', 'export', done.id])).stdout.split('\n');
    expect(known!.publicKey.id).toBe(envelopeOf(line).signatures[0]!.keyid);
    expect(known!.recipient).toMatch(/^age1/);
    const again = await fleet.cli(['receipts', 'keys', '-o', path('keys.json')]);
    expect(again.stdout).toContain('has 1 key, 0 new');
  });

  test('that outlives what the server remembers', async () => {
    const home = path('kept');
    await cp(`${worker.home}/tasks/${done.id}`, `${home}/tasks/forgotten`, { recursive: true });
    const exported = await fleet.cli(['receipts', 'export', 'forgotten'], { env: { FLEET_HOME: home } });
    expect(exported).toMatchObject({ code: 0, stderr: `from ${home}, as there is no task forgotten` });
    expect(exported.stdout).toBe((await fleet.cli(['receipts', 'export', done.id])).stdout);
    const gone = await fleet.cli(['receipts', 'export', 'no-such-task'], { env: { FLEET_HOME: home } });
    expect(gone).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('the keys', () => {
  const secrets = async (): Promise<string[]> => {
    const pem = await readFile(`${worker.home}/keys/signing.pem`, 'utf8');
    const age = await readFile(`${worker.home}/keys/identity.age`, 'utf8');
    const found = [/^[A-Za-z0-9+/]{64}$/m.exec(pem)?.[0], /^AGE-SECRET-KEY-\S+$/m.exec(age)?.[0]];
    expect(found).not.toContain(undefined);
    return found as string[];
  };

  test('cannot be read by an agent', async () => {
    const report = await drain({ coder: 'peek' });
    const peeked = await git(repo, 'show', `${report.branch}:peeked.txt`);
    expect(peeked.match(/No such file or directory/g)).toHaveLength(2);
    expect(peeked).toMatch(/^runs$/m);
    expect(peeked).not.toMatch(/keys$|\.pem$|\.age$/m);
    for (const secret of await secrets()) expect(peeked).not.toContain(secret);
  });

  test('show nowhere: not in what a worker keeps or says, nor in a history', async () => {
    const record = (await fleet.fleet.workers())[0]!;
    const histories = await Promise.all([done.id, workerRecordId(record.hostQueue)].map(historyText));
    const kept = await filesBeneath(worker.home);
    expect(kept.some((file) => file.endsWith('/receipts.jsonl'))).toBe(true);
    const texts = await Promise.all(kept.map(async (file) => readFile(file, 'latin1').catch(() => '')));
    const all = [...histories, ...texts, worker.output()];
    expect(histories.join('').includes(record.publicKey!.id)).toBe(true);
    for (const secret of await secrets()) expect(all.some((text) => text.includes(secret))).toBe(false);
  });

  test('that others can read keep the worker from starting', async () => {
    await using other = await fleet.worker('loose', { coders });
    await other.stop();
    chmodSync(`${other.home}/keys/signing.pem`, 0o644);
    const started = await fleet.cli(['worker'], { env: { FLEET_HOME: other.home } });
    expect(started).toMatchObject({ code: 2, stdout: '' });
    expect(started.stderr.split('\n')[0]).toBe(
      `fleet: ${other.home}/keys/signing.pem is open to other users (mode 644)`,
    );
  });
});

describe('a check that is sealed to the worker', () => {
  const sealed = async (script: string): Promise<string> => {
    const file = path(`check-${script.length}.sh`);
    await writeFile(file, script);
    const ran = await fleet.cli(['seal', '--worker', worker.name, file]);
    expect(ran.code).toBe(0);
    return ran.stdout;
  };

  test('decides, and its text shows nowhere', async () => {
    const good = await drain({
      coder: 'ok',
      verify: { heldOut: [{ sealed: await sealed('test -s made.txt # p4ssed') }] },
    });
    expect(good).toMatchObject({ state: 'done', verdict: { accepted: true } });
    const bad = await drain({
      coder: 'ok',
      verify: { heldOut: [{ sealed: await sealed('test -s other.txt # h1dden') }] },
    });
    expect(bad).toMatchObject({ state: 'parked', verdict: { accepted: false } });
    const { stdout } = await fleet.cli(['receipts', 'export', bad.id]);
    const said = stdout.split('\n').map((line) => Buffer.from(envelopeOf(line).payload, 'base64').toString());
    expect(`${JSON.stringify(bad)}${said.join('')}`).not.toMatch(/h1dden|other\.txt|AGE ENCRYPTED/);
  });

  test('for nobody that is known is refused', async () => {
    const { code, stderr } = await fleet.cli(['seal', '--worker', 'nobody', path('keys.json')]);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no worker nobody: known are');
  });
});

async function filesBeneath(home: string): Promise<string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/keys'))
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}

/** All of its payloads are text. */
async function historyText(workflowId: string): Promise<string> {
  const history = await fleet.client.workflow.getHandle(workflowId).fetchHistory();
  const decoded = (_all: string, data: string): string => Buffer.from(data, 'base64').toString();
  return JSON.stringify(history).replace(/"data":"([^"]*)"/g, decoded);
}
