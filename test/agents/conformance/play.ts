import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startModelServer, type ModelServer, type Turn } from '../../helpers/model-server.ts';
import { runCoder, startCoder, type CoderInput, type CoderRun, type LiveCoder, type Workspace } from '../run-coder.ts';
import type { Subject } from './subject.ts';

type Extra = Partial<CoderInput> & { at: Workspace };

/** The subject plays the script to its end. */
export async function play(subject: Subject, turns: Turn[], { at, env, ...order }: Extra) {
  await using server = await startModelServer(turns);
  const { coder, env: own, ...setup } = subject.setup(server.url());
  const run = await runCoder(coder, at, { ...setup, ...order, env: { ...own, ...env } });
  return { run, requests: server.requests };
}

/** The subject, on the way. */
export function start(subject: Subject, server: ModelServer, { at, env, ...order }: Extra): LiveCoder {
  const { coder, env: own, ...setup } = subject.setup(server.url());
  return startCoder(coder, at, { ...setup, ...order, env: { ...own, ...env } });
}

/** RECORD=1 writes what the binaries print to test/fixtures/coders, for the parsers' own tests. */
export function record(subject: Pick<Subject, 'fixtures'>, scenario: string, run: CoderRun, at: Workspace): void {
  if (!process.env['RECORD'] || !subject.fixtures) return;
  const folder = join(import.meta.dirname, '../../fixtures/coders', subject.fixtures);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${scenario}.jsonl`),
    run.lines.map((line) => `${line.replaceAll(at.dir, '/run')}\n`).join(''),
  );
}
