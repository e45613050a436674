import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { ResourceLimits } from '../sandbox/cgroup.ts';
import type { IsolationPlan } from '../sandbox/plan.ts';
import { containedArgv, offArgv } from '../sandbox/sandbox.ts';
import { passOn } from './pass-on.ts';
import { PipeStock } from './pipe-stock.ts';
import { drain, offerPipe, openPipes, openText, type Drain } from './pipes.ts';

export interface TreeCommand {
  plan: IsolationPlan;
  limits: ResourceLimits;
  argv: readonly string[];
  cwd: string;
  /** Complete: nothing is inherited. `FLEET_RUN` is set on top. */
  env: Record<string, string>;
  /** Unique to this tree: what the sweep of a process group looks for. */
  mark: string;
  stdin: string;
  /** A folder of ours that the tree cannot see, for a moment's use. */
  scratch: string;
  /** Called with a buffer that is used again. */
  stdout: (bytes: Buffer) => void;
  stderr: (bytes: Buffer) => void;
  /** A named pipe for the tree to write to, apart from its output. */
  hooks?: { path: string; take: (bytes: Buffer) => void } | undefined;
}

/** Starts the isolation's outermost program; its streams are read from now on. @throws where it cannot be started */
export async function spawnTree(command: TreeCommand): Promise<{ child: ChildProcess; streams: Drain[] }> {
  const { argv, text } = offArgv(containedArgv(command.plan, command));
  const [file, ...args] = argv;
  const stock = PipeStock.of(command.plan.home);
  const pipes = await openPipes(stock, 2);
  const [out, err] = pipes as [(typeof pipes)[0], (typeof pipes)[0]];
  const streams: Drain[] = [drain(out.read, command.stdout), drain(err.read, command.stderr)];
  const stdin = openText(command.scratch, command.stdin);
  const folders = text === undefined ? [] : [openText(command.scratch, text)];
  try {
    if (command.hooks) streams.push(offerPipe(await stock.takeFor(command.scratch), command.hooks));
    const env = { ...command.env, FLEET_RUN: command.mark };
    const way = folders.length > 0 ? command.plan.way : undefined;
    const channel = way ? ['ipc' as const] : [];
    const stdio: StdioOptions = [stdin, out.write, 'pipe', 'pipe', err.write, ...folders, ...channel];
    const child = spawn(file!, args, { cwd: '/', env, stdio, detached: true });
    if (way) passOn(child, way);
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    return { child, streams };
  } catch (error) {
    streams.forEach((stream) => (stream.close?.(), stream.destroy()));
    throw error;
  } finally {
    [stdin, out.write, err.write, ...folders].forEach((fd) => closeSync(fd));
  }
}
