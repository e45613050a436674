import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { keepBuildCache, layBuildCache } from '../../src/adapters/state/build-cache.ts';
import { runContained } from '../../src/adapters/keeper/contained.ts';
import type { Policy } from '../../src/domain/repository/repo-policy.ts';
import type { Change, Evidence, Space } from '../../src/ports.ts';
import { evidenceOf } from './evidence.ts';

const KINDS: Record<string, Change['kind']> = { A: 'added', D: 'deleted', T: 'type' };

/** Real checkouts of a real repository, real commands; only the namespaces are left out. */
export class TrialLab {
  readonly dir = mkdtempSync(join(tmpdir(), 'fleet-trial-'));
  readonly #ofBase = new Map<string, unknown>();

  constructor() {
    mkdirSync(this.at('repo'));
    this.git('init', '-q');
  }

  at(path: string): string {
    return join(this.dir, path);
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.at('repo'), encoding: 'utf8' }).trim();
  }

  /** On top of the last one; null removes a file. */
  commit(files: Record<string, string | null>): string {
    for (const [path, text] of Object.entries(files)) {
      const file = this.at(`repo/${path}`);
      mkdirSync(dirname(file), { recursive: true });
      if (text === null) rmSync(file, { recursive: true });
      else writeFileSync(file, text);
      if (text?.startsWith('#!')) chmodSync(file, 0o755);
    }
    this.git('add', '-A');
    this.git('-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '-qm', 'change', '--allow-empty');
    return this.git('rev-parse', 'HEAD');
  }

  evidence(given: { base: string; commit: string; policy: Partial<Policy>; rest?: Partial<Evidence> }): Evidence {
    const { base, commit, policy, rest = {} } = given;
    const changes = this.git('diff', '--name-status', '--no-renames', base, commit)
      .split('\n')
      .filter(Boolean)
      .map((line): Change => {
        const [letter = '', path = ''] = line.split('\t');
        return { path, kind: KINDS[letter] ?? 'modified' };
      });
    const evidence = evidenceOf({ changes, result: { gitDir: this.at('repo/.git'), base, commit } });
    return {
      ...evidence,
      policy: { ...evidence.policy, ...policy },
      space: (name) => this.#space(name),
      ofBase: async (key, make) => {
        if (!this.#ofBase.has(key)) this.#ofBase.set(key, (await make()).value);
        return this.#ofBase.get(key) as never;
      },
      heldOutDir: this.at('held-out'),
      ...rest,
    };
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  async #space(name: string): Promise<Space> {
    const dir = this.at(`trials/${name}`);
    rmSync(dir, { recursive: true, force: true });
    const own = {
      tree: `${dir}/tree`,
      aside: `${dir}/aside`,
      home: `${dir}/home`,
      tmp: `${dir}/tmp`,
      given: `${dir}/given`,
    };
    for (const folder of Object.values(own)) mkdirSync(folder, { recursive: true });
    const { tree, aside, home, tmp, given } = own;
    const logFile = this.at(`${name}.log`);
    const PATH = process.env['PATH'] ?? '';
    await layBuildCache(this.at('kept'), home);
    return {
      ...{ tree, aside, given, logFile },
      keepBuildCache: () => keepBuildCache(home, this.at('kept')),
      run: ({ command, timeoutMs, env = {}, path = [] }) =>
        runContained(
          { command, cwd: tree, timeoutMs, logFile },
          {
            ...{ isolation: 'process-group', limits: {}, home: this.dir, show: [], readOnly: [] },
            env: { ...env, PATH: [...path, PATH].join(':'), HOME: home, TMPDIR: tmp, PWD: tree },
          },
        ),
    };
  }
}
