import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestFleet } from '../helpers/fleet.ts';
import { git, makeRepo, write } from '../helpers/git.ts';
import { until } from '../helpers/until.ts';

/** How many tasks two fleets and a person share: 40, or `QUEUE_TASKS`. */
const TASKS = Number(process.env['QUEUE_TASKS'] ?? 40);
const PERSONS = Math.floor(TASKS / 8);
/** How often one of the fleets' syncing processes dies. */
const KILLS = TASKS / 8;
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

let berlin: TestFleet;
let oslo: TestFleet;

const sh = (script: string) => ({ command: ['sh', '-c', `cat > /dev/null; ${script}`], protocol: 'none' as const });
const coders = { quick: sh('echo done') };

beforeAll(async () => {
  [berlin, oslo] = await Promise.all([TestFleet.start(), TestFleet.start()]);
  const config = { worker: { slots: 4, coder: 'quick' }, coders };
  await Promise.all([berlin.worker('berlin', config), oslo.worker('oslo', config)]);
});
afterAll(async () => {
  await Promise.all([berlin, oslo].map((fleet) => fleet?.[Symbol.asyncDispose]()));
});

let made = 0;
/** A bare repository with these tasks, by id, and the clone of a plain user. */
function queueOf(tasks: Record<string, object>) {
  const dir = `${berlin.root}/queue-${(made += 1)}`;
  const files = Object.entries(tasks).map(([id, task]) => [`tasks/${id}.json`, json({ id, ...task })]);
  makeRepo(`${dir}/user`, { 'README.md': 'ours\n', ...(Object.fromEntries(files) as Record<string, string>) });
  git(dir, 'clone', '-q', '--bare', `${dir}/user`, `${dir}/q.git`);
  git(`${dir}/user`, 'remote', 'add', 'origin', `${dir}/q.git`);
  const read = (id: string) => JSON.parse(git(`${dir}/q.git`, 'show', `main:tasks/${id}.json`)) as Record<string, any>;
  return { url: `${dir}/q.git`, user: `${dir}/user`, read };
}
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
const open = (more: object = {}) => ({
  ...{ description: 'Say done', type: 'message', status: 'pending', task: { verify: ['true'] } },
  ...more,
});

/** `fleet sync --watch` until it is disposed of. */
function watch(fleet: TestFleet, name: string, url: string): AsyncDisposable & { kill(): void; output(): string } {
  const args = [MAIN, 'sync', url, '--name', name, '--watch', '--every', '300ms'];
  const env = { ...fleet.server.env, FLEET_HOME: `${fleet.root}/sync-${name}` };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    kill: () => void child.kill('SIGKILL'),
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT');
      await ended;
    },
  };
}

/** Somebody who has nothing but git: claims one open task by hand and completes it; gives its id. */
function workByHand(dir: string): string | undefined {
  const read = (file: string) => JSON.parse(readFileSync(`${dir}/tasks/${file}`, 'utf8')) as Record<string, unknown>;
  const push = (): boolean => {
    try {
      git(dir, 'push', '-q', 'origin', 'HEAD:main');
      return true;
    } catch {
      return false;
    }
  };
  const latest = () => {
    git(dir, 'fetch', '-q', 'origin', 'main');
    git(dir, 'reset', '-q', '--hard', 'FETCH_HEAD');
  };
  for (;;) {
    latest();
    const file = readdirSync(`${dir}/tasks`).findLast((name) => read(name)['status'] === 'pending');
    if (!file) return undefined;
    write(dir, { [`tasks/${file}`]: json({ ...read(file), status: 'claimed', claimed_by: 'jean' }) });
    git(dir, 'commit', '-qam', 'mine');
    if (!push()) continue;
    do {
      latest();
      write(dir, { [`tasks/${file}`]: json({ ...read(file), status: 'done', result: 'by hand' }) });
      git(dir, 'commit', '-qam', 'done');
    } while (!push());
    return String(read(file)['id']);
  }
}

describe('two fleets and a plain git user', () => {
  test(
    `share ${TASKS} tasks, and none is done twice`,
    async () => {
      const ids = Array.from({ length: TASKS }, (_, n) => `t${String(n).padStart(4, '0')}`);
      const { url, user, read } = queueOf(Object.fromEntries(ids.map((id) => [id, open()])));
      const startedMs = performance.now();
      const byHand: string[] = [];
      let [inTheMiddle, kills] = [watch(berlin, 'berlin', url), 0];
      await using _ = { [Symbol.asyncDispose]: () => inTheMiddle[Symbol.asyncDispose]() };
      await using steady = watch(oslo, 'oslo', url);
      await until(() => byHand.push(...[workByHand(user)].flatMap((id) => id ?? [])) > 1);
      for (const id of ['added-1', 'added-2']) {
        expect(
          (await berlin.cli(['sync', 'add', url, 'Say done', '--type', 'message', '--verify', 'true', '--id', id]))
            .code,
        ).toBe(0);
        ids.push(id);
      }
      const left = () => ids.filter((id) => read(id)['status'] !== 'done');
      await until(
        () => {
          if (byHand.length < PERSONS) byHand.push(...[workByHand(user)].flatMap((id) => id ?? []));
          const done = git(url, 'grep', '-l', '"status": "done"', 'main', '--', 'tasks').split('\n').length;
          if (done > ((kills + 1) * ids.length) / KILLS) {
            // It dies at any instant, and is started again; a push of its may still be under way.
            inTheMiddle.kill();
            [inTheMiddle, kills] = [watch(berlin, 'berlin', url), kills + 1];
          }
          return done === ids.length;
        },
        { timeoutMs: 60_000 + TASKS * 1_500 },
      );
      const seconds = (performance.now() - startedMs) / 1_000;

      expect(left()).toEqual([]);
      const [inBerlin, inOslo] = await Promise.all([berlin, oslo].map(({ fleet }) => fleet.list({ all: true })));
      const ran = [...inBerlin!, ...inOslo!].flatMap(({ id, runs }) => runs.map(() => id.replace(/-[0-9a-f]{8}$/, '')));
      const doers = [...ran, ...byHand].sort();
      const twice = doers.filter((id, index) => doers[index - 1] === id);
      process.stderr.write(
        `${ids.length} tasks in ${seconds.toFixed(1)} s (${(ids.length / seconds).toFixed(1)}/s): ` +
          `${inBerlin!.length} by berlin, ${inOslo!.length} by oslo, ${byHand.length} by hand, ${twice.length} twice, ` +
          `${kills} kills, ${git(url, 'rev-list', '--count', 'main')} commits\n`,
      );
      expect({ twice, doers }).toEqual({ twice: [], doers: [...ids].sort() });
      expect(inOslo!.length).toBeGreaterThan(0);
      expect(git(url, 'rev-list', '--count', '--merges', 'main')).toBe('0');
      expect(steady.output()).not.toMatch(/trying again|Error/);
    },
    120_000 + TASKS * 2_000,
  );
});
