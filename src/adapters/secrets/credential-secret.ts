import { open, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { execa } from 'execa';
import { parseDotenv, type Credential } from '../../domain/routing/credential.ts';
import type { Coder } from '../../ports.ts';
import { findProgram } from '../program/find-program.ts';

/** What a credential is read with. No secret is ever part of a message, nor kept. */
export interface SecretSource {
  name: string;
  declared: Credential;
  /** Variables that its coder takes, and those of them that hold a secret. */
  takes: readonly string[];
  secrets: readonly string[];
  /** `$FLEET_HOME`, which relative paths start from. */
  home: string;
  env: NodeJS.ProcessEnv;
}

/** `userHome`: where the coder finds its login; undefined where variables allow it all. */
export type Secret =
  | { ok: true; env: Record<string, string>; userHome?: string }
  /** `passing`: it may be otherwise soon. */
  | { ok: false; message: string; passing?: true };

const COMMAND_MS = 20_000;
const FILE_BYTES = 64 * 1024;
/** Where a coder keeps its login, under a HOME. */
const LOGINS: Readonly<Record<string, string>> = { claude: '.claude/.credentials.json', codex: '.codex/auth.json' };

/** Reads a credential's secret. A failure is one sentence that names the field. */
export async function readSecret(source: SecretSource): Promise<Secret> {
  const { declared } = source;
  if (declared.home !== undefined) return readHome(source, declared.home);
  if (declared.envFile !== undefined) return readFile(source, declared.envFile);
  return runCommand(source, declared.command ?? []);
}

/** What a credential of that coder may set: the first is what a bare secret stands for. */
export function variablesOf(coder: Coder | undefined): Pick<SecretSource, 'takes' | 'secrets'> {
  const { keys = [], env = [] } = coder ?? {};
  const takes = [...new Set([...keys, ...env])];
  return { takes, secrets: takes.filter((name) => keys.includes(name) || SECRET.test(name)) };
}

const SECRET = /KEY|TOKEN|SECRET|PASSWORD/i;

/** What can be said without running anything: before the worker takes its first task. */
export async function checkSecret(source: SecretSource): Promise<string | undefined> {
  const { name, declared, env } = source;
  if (declared.command) {
    const [file = ''] = declared.command;
    return (await findProgram(file, env))
      ? undefined
      : `credentials.${name}.command must be a program: ${file} is not found`;
  }
  const secret = await readSecret(source);
  return secret.ok ? undefined : secret.message;
}

/** `~` and relative paths as people mean them. */
function credentialPath(path: string, { home, env }: Pick<SecretSource, 'home' | 'env'>): string {
  return resolve(home, path.replace(/^~(?=\/|$)/, env['HOME'] ?? homedir()));
}

async function readHome(source: SecretSource, path: string): Promise<Secret> {
  const { name, declared } = source;
  const home = credentialPath(path, source);
  const login = `${home}/${LOGINS[declared.coder] ?? ''}`;
  const found = await stat(login).catch(() => undefined);
  if (found) return { ok: true, env: {}, userHome: home };
  return {
    ok: false,
    message: `credentials.${name}.home must be a HOME in which ${declared.coder} is logged in: there is no ${login}`,
  };
}

async function readFile(source: SecretSource, path: string): Promise<Secret> {
  const field = `credentials.${source.name}.envFile`;
  const file = credentialPath(path, source);
  // Neither a folder nor a pipe, which would be waited for.
  if (!(await stat(file).catch(() => undefined))?.isFile())
    return { ok: false, message: `${field} must be a file that can be read: ${file} is none` };
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => error.code ?? 'an error');
  if (typeof handle === 'string')
    return { ok: false, message: `${field} must be a file that can be read: ${file} gave ${handle}` };
  try {
    const { mode, size } = await handle.stat();
    if ((mode & 0o077) !== 0) {
      const octal = (mode & 0o777).toString(8).padStart(4, '0');
      return { ok: false, message: `${field} must be for its owner alone: ${file} is ${octal}, chmod 600 mends it` };
    }
    if (size > FILE_BYTES) return { ok: false, message: `${field} must be 64 KB at most: ${file}` };
    return variablesIn(source, { field, text: await handle.readFile('utf8'), bare: false });
  } finally {
    await handle.close();
  }
}

async function runCommand(source: SecretSource, [file = '', ...args]: readonly string[]): Promise<Secret> {
  const field = `credentials.${source.name}.command`;
  const { exitCode, signal, timedOut, stdout, failed } = await execa(file, args, {
    ...{ env: source.env, extendEnv: false, reject: false, stdin: 'ignore', stderr: 'ignore' },
    ...{ timeout: COMMAND_MS, maxBuffer: FILE_BYTES, cwd: source.home },
  });
  if (timedOut)
    return { ok: false, passing: true, message: `${field} must print its secret within ${COMMAND_MS / 1_000} s` };
  if (failed) {
    const how = signal ?? (exitCode === undefined ? 'no start' : `exit code ${exitCode}`);
    return { ok: false, passing: true, message: `${field} must end well: it ended with ${how}` };
  }
  return variablesIn(source, { field, text: stdout, bare: true });
}

function variablesIn(
  { declared, takes, secrets }: SecretSource,
  { field, text, bare }: { field: string; text: string; bare: boolean },
): Secret {
  const { coder } = declared;
  if (!secrets.length)
    return {
      ok: false,
      message: `${field} cannot be used: coder ${coder} takes no variable, name it in coders.${coder}.env`,
    };
  if (!text.trim()) return { ok: false, message: `${field} must give a secret: it is empty` };
  const isBare = bare && !text.trim().includes('\n') && !/^\s*(export\s+)?[A-Z][A-Z0-9_]*=/.test(text);
  const all = isBare ? { [secrets[0]!]: text.trim() } : parseDotenv(text);
  if (!all) return { ok: false, message: `${field} must be lines NAME=value` };
  const env = Object.fromEntries(Object.entries(all).filter(([name, value]) => takes.includes(name) && value));
  if (secrets.some((name) => env[name])) return { ok: true, env };
  return { ok: false, message: `${field} must set a variable that ${coder} takes: ${secrets.join(', ')}` };
}
