import { measureFolder } from '../../disk/measure-folder.ts';
import { runGit, GitFailed } from '../git.ts';
import { pipeObjects } from '../pack.ts';
import type { Request, Response } from './protocol.ts';

/** Starts git for a worker, whose own size makes each start of a process ten times slower, and walks folders; ends with it. */
process.on('disconnect', () => process.exit(0));
process.on('message', (request: Request) => void answer(request).then((response) => process.send?.(response)));

async function answer(request: Request): Promise<Response> {
  const { id } = request;
  try {
    if (request.op === 'git') return { id, stdout: await runGit(request.args, request.options) };
    if (request.op === 'folderSize') return { id, size: await measureFolder(request.path) };
    await pipeObjects(request.copy);
    return { id, stdout: new Uint8Array() };
  } catch (error) {
    if (!(error instanceof GitFailed)) return { id, broken: error instanceof Error ? error.message : String(error) };
    const { args, code, stderr, timedOut, broken } = error;
    return { id, failed: { args, code, stderr, timedOut, ...(broken === undefined ? {} : { broken }) } };
  }
}
