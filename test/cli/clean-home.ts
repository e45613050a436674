import { existsSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { saveRescue } from '../../src/adapters/git/rescue/rescue.ts';
import { homeLayout, rescueRef, type HomeLayout } from '../../src/domain/names.ts';
import { git, makeRepo, must } from '../helpers/git.ts';
import type { TestServer } from '../helpers/temporal.ts';
import { cli } from './world.ts';

const DAY = 86_400_000;

/** A home with what a worker keeps of a task: a log, and an origin where given. */
export async function cleanHome(server: TestServer, root: string) {
  const layout = homeLayout(`${root}/home`);
  const origin = { server: `${server.address}/default`, worker: 'ada' };
  const keep = async (id: string, days: number, from: object | null = origin) => {
    const { dir, runOf, origin: file } = layout.task(id);
    await mkdir(runOf(1).logs, { recursive: true });
    await writeFile(runOf(1).events, 'x'.repeat(100_000));
    if (from) await writeFile(file, JSON.stringify(from));
    await age(dir, days);
  };
  /** Saved work of a run; gives the file of its ref. */
  const rescue = async (taskId: string, runId: string) => {
    const [repo, vaultDir, ref] = [`${root}/repo`, layout.vaultOf('r'), rescueRef(taskId, runId)];
    if (!existsSync(repo)) makeRepo(repo);
    await writeFile(`${repo}/a.txt`, taskId);
    git(repo, 'commit', '-qam', taskId);
    const commit = git(repo, 'rev-parse', 'HEAD');
    git(repo, 'reset', '-q', '--hard', 'HEAD^');
    must(await saveRescue({ vaultDir, gitDir: `${repo}/.git`, commit, ref }));
    return `${vaultDir}/${ref}`;
  };
  const env = { ...server.env, FLEET_HOME: layout.root };
  await mkdir(layout.root, { recursive: true });
  return { layout, keep, rescue, origin, clean: (...flags: string[]) => cli(['clean', ...flags], { env }) };
}

export async function age(dir: string, days: number): Promise<void> {
  const at = new Date(Date.now() - days * DAY);
  for (const name of await readdir(dir, { recursive: true })) await utimes(`${dir}/${name}`, at, at);
  await utimes(dir, at, at);
}

export const kept = async (layout: HomeLayout) =>
  (await readdir(layout.tasks)).filter((name) => !name.startsWith('.')).sort();
