import { expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { saveWork } from '../../../src/activities/save/save-work.ts';
import { git, makeLab, write } from '../../helpers/git.ts';
import { goOn, makeWorkLab } from '../../helpers/work.ts';
import { tempDir } from '../../helpers/temp.ts';

const FILES = { 'a.txt': 'a\n' };

test('saving twice is saving once; nothing changed is nothing saved; a verdict’s result is not walked again', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const ref = { taskId: 't1', runId: '1-a' };
  const { tree } = await at.run(1);
  expect(await saveWork(at.deps, ref)).toBeNull();
  write(tree, { 'b.txt': 'b' });
  const saved = await saveWork(at.deps, ref);
  expect(await saveWork(at.deps, ref)).toEqual(saved);
  expect(await Promise.all([saveWork(at.deps, ref), saveWork(at.deps, ref)])).toEqual([saved, saved]);
  write(tree, { 'b.txt': 'better' });
  const better = await saveWork(at.deps, ref);
  expect(better!.commit).not.toBe(saved!.commit);
  expect(git(lab.home.vaultOf('repo'), 'rev-parse', 'refs/fleet/t1/1-a')).toBe(better!.commit);

  const files = lab.home.run('t1', '1-a');
  const result = await lab.capture();
  write(files.dir, { 'verified.json': JSON.stringify({ verdict: { accepted: true }, commit: result.commit }) });
  rmSync(tree, { recursive: true });
  expect(await saveWork(at.deps, ref)).toMatchObject({ head: lab.base });
  expect(git(files.result, 'rev-parse', 'refs/heads/result')).toBe(result.commit);
  expect(existsSync(files.save)).toBe(false);
});

test('a run whose agent never spoke hands on the session that it was to go on with', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const { prepared, tree } = await at.run(1);
  const file = `${temp.path}/0123abcd-session.jsonl`;
  writeFileSync(file, '{"said":"first"}\n');
  const saved = { commit: '', head: '', session: null, pushed: false, at: '' };
  const session = { id: '0123abcd-session', file };
  prepared.resumed = { runId: '0-a', saved, why: 'x', inFlight: null, session } as never;
  write(tree, { 'b.txt': 'b' });
  expect(await saveWork(at.deps, { taskId: 't1', runId: '1-a' })).toMatchObject({ session: session.id });
  const on = await goOn(lab, at);
  expect(readFileSync(on.resumed!.session!.file, 'utf8')).toBe('{"said":"first"}\n');
});

test('a tree that could lead out of itself is never gone on from', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const { tree } = await at.run(1);
  symlinkSync('/etc/passwd', `${tree}/out-of-it`);
  expect(await saveWork(at.deps, { taskId: 't1', runId: '1-a' })).toBeNull();
  expect((await goOn(lab, at)).found).toBeNull();
});

test('a tree that changes while it is read is saved, or not, and nothing else happens', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const { tree } = await at.run(1);
  write(tree, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 7}/f${i}`, 'x'.repeat(2_000)])));
  let stop = false;
  let turns = 0;
  const churn = (async () => {
    for (; !stop; turns += 1) {
      const dir = `${tree}/d${turns % 7}`;
      writeFileSync(`${dir}/f${turns % 300}`, `${turns}`);
      mkdirSync(`${dir}/tmp`, { recursive: true });
      rmSync(`${dir}/tmp`, { recursive: true });
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const outcomes = [];
  for (let i = 0; i < 5; i += 1)
    outcomes.push(await saveWork(at.deps, { taskId: 't1', runId: '1-a' }).catch((error: Error) => error.message));
  stop = true;
  await churn;
  expect(turns).toBeGreaterThan(5);
  for (const outcome of outcomes)
    if (typeof outcome === 'string') expect(outcome).toMatch(/changed while it was captured|ENOENT/);
  const saved = await saveWork(at.deps, { taskId: 't1', runId: '1-a' });
  expect(git(lab.home.vaultOf('repo'), 'fsck', '--full', '--no-dangling')).toBe('');
  expect(saved).not.toBeNull();
});

test('the session goes along as far as its lines are whole, through no link, and with the call in flight', async () => {
  await using temp = await tempDir();
  const lab = await makeLab(temp.path, FILES);
  const at = makeWorkLab(lab);
  const ref = { taskId: 't1', runId: '1-a' };
  const session = '11111111-2222-8333-8444-555555555555';
  const { tree } = await at.run(1);
  const files = lab.home.run('t1', '1-a');
  const file = `${files.agentHome}/.claude/projects/-some-cwd/${session}.jsonl`;
  write(tree, { 'b.txt': 'b' });
  const { events } = lab.home.task('t1').runOf(1);
  const lines = [
    { type: 'started', session },
    { type: 'tool-call', id: '1', name: 'Bash', input: 'ls' },
    { type: 'tool-result', id: '1', ok: true, output: '' },
    { type: 'tool-call', id: '2', name: 'Bash', input: 'make deploy' },
  ];
  write(dirname(events), { 'events.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') });

  write(dirname(file), { secret: '{"stolen":1}\n' });
  symlinkSync('secret', file);
  expect(await saveWork(at.deps, ref)).toMatchObject({ session: null });
  rmSync(file);
  write(dirname(file), { [`${session}.jsonl`]: '{"a":1}\n{"b":2}\n{"torn' });
  expect(await saveWork(at.deps, ref)).toMatchObject({ session });
  const { resumed } = await goOn(lab, at);
  expect(resumed).toMatchObject({ inFlight: 'Bash make deploy', session: { id: session } });
  expect(readFileSync(resumed!.session!.file, 'utf8')).toBe('{"a":1}\n{"b":2}\n');

  // A conversation that was too long is not gone on with.
  write(files.dir, {
    'outcome.json': JSON.stringify({ ended: { ok: false, failure: 'context-overflow' } }),
  });
  expect(await saveWork(at.deps, ref)).toMatchObject({ session: null });
});
