import { execFileSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { checkSecret, readSecret, type SecretSource } from '../../../src/adapters/secrets/credential-secret.ts';
import { loadConfig } from '../../../src/config.ts';
import { showConfig } from '../../../src/adapters/state/config-file.ts';
import { credential, parseDotenv } from '../../../src/domain/routing/credential.ts';
import { tempDir } from '../../helpers/temp.ts';

const TAKES = ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'];
const SECRET = 'sk-planted-0123456789';

const source = (home: string, declared: object): SecretSource => ({
  ...{
    name: 'team',
    home,
    takes: TAKES,
    secrets: [TAKES[0]!, TAKES[2]!],
    env: { PATH: process.env['PATH'], HOME: home },
  },
  declared: credential.parse({ coder: 'claude', ...declared }),
});
const said = async (home: string, declared: object): Promise<string> => {
  const secret = await readSecret(source(home, declared));
  if (secret.ok) return 'ok';
  expect(secret.message).not.toContain(SECRET);
  expect(secret.message).not.toContain('\n');
  return secret.message;
};

test('an env file gives the variables that the coder takes, and no other', async () => {
  await using temp = await tempDir();
  const file = `${temp.path}/a.env`;
  await writeFile(file, `# ours\nexport ANTHROPIC_API_KEY="${SECRET}" # main\nANTHROPIC_BASE_URL=http://h\nOTHER=x\n`, {
    mode: 0o600,
  });
  expect(await readSecret(source(temp.path, { envFile: 'a.env' }))).toEqual({
    ok: true,
    env: { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: 'http://h' },
  });
});

test('an env file that others can read, that is missing, empty or holds nothing of use is refused in one sentence', async () => {
  await using temp = await tempDir();
  const file = `${temp.path}/a.env`;
  const write = (text: string) => writeFile(file, text, { mode: 0o600 });
  expect(await said(temp.path, { envFile: 'a.env' })).toMatch(
    /^credentials\.team\.envFile must be a file that can be read/,
  );
  await write('');
  expect(await said(temp.path, { envFile: 'a.env' })).toBe('credentials.team.envFile must give a secret: it is empty');
  await write(`OPENAI_API_KEY=${SECRET}\nANTHROPIC_BASE_URL=http://h\n`);
  expect(await said(temp.path, { envFile: 'a.env' })).toBe(
    'credentials.team.envFile must set a variable that claude takes: ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN',
  );
  await write(`${SECRET}\n`);
  expect(await said(temp.path, { envFile: 'a.env' })).toBe('credentials.team.envFile must be lines NAME=value');
  await write(`ANTHROPIC_API_KEY=${SECRET}\n`);
  expect(await said(temp.path, { envFile: '~/a.env' })).toBe('ok');
  for (const mode of [0o644, 0o640, 0o604, 0o620]) {
    await chmod(file, mode);
    expect(await said(temp.path, { envFile: file })).toMatch(
      new RegExp(
        `^credentials\\.team\\.envFile must be for its owner alone: .* is 0${mode.toString(8)}, chmod 600 mends it$`,
      ),
    );
  }
});

test('a command gives the bare secret or lines; its output never shows in what is said of it', async () => {
  await using temp = await tempDir();
  const run = (script: string) => readSecret(source(temp.path, { command: ['sh', '-c', script] }));
  expect(await run(`echo ${SECRET}`)).toEqual({ ok: true, env: { ANTHROPIC_API_KEY: SECRET } });
  expect(await run(`echo CLAUDE_CODE_OAUTH_TOKEN=${SECRET}`)).toEqual({
    ok: true,
    env: { CLAUDE_CODE_OAUTH_TOKEN: SECRET },
  });
  const failed = await run(`echo ${SECRET}; echo ${SECRET} >&2; exit 3`);
  expect(failed).toEqual({
    ok: false,
    passing: true,
    message: 'credentials.team.command must end well: it ended with exit code 3',
  });
  expect(await run('true')).toMatchObject({
    ok: false,
    message: 'credentials.team.command must give a secret: it is empty',
  });
  expect(await checkSecret(source(temp.path, { command: ['no-such-program'] }))).toMatch(
    /no-such-program is not found$/,
  );
});

test('a home counts where its coder is logged in there', async () => {
  await using temp = await tempDir();
  expect(await said(temp.path, { home: '~/max' })).toMatch(
    /must be a HOME in which claude is logged in: there is no .*\/max\/\.claude\/\.credentials\.json$/,
  );
  await mkdir(`${temp.path}/max/.claude`, { recursive: true });
  await writeFile(`${temp.path}/max/.claude/.credentials.json`, '{}');
  expect(await readSecret(source(temp.path, { home: '~/max' }))).toEqual({
    ok: true,
    env: {},
    userHome: `${temp.path}/max`,
  });
});

test('lines as shells know them', () => {
  expect(parseDotenv(`A=1\n\n#x\n export B='two words' \nC="q" # why\nD=\r\nE=a=b#c\n`)).toEqual({
    ...{ A: '1', B: 'two words', C: 'q', D: '', E: 'a=b#c' },
  });
  expect(parseDotenv('no line')).toBeUndefined();
});

test('the configuration refuses what cannot be right, and shows no arguments of a command', async () => {
  await using temp = await tempDir();
  const load = (yaml: string) =>
    writeFile(`${temp.path}/config.yaml`, yaml).then(() => loadConfig({ home: temp.path, env: {} }));
  const refused = (yaml: string) =>
    load(yaml).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
  expect(await refused('credentials: { a: { coder: claude } }\n')).toMatch(
    /credentials\.a must have one of home, envFile, command$/,
  );
  expect(await refused('credentials: { a: { coder: claude, home: x, envFile: y } }\n')).toMatch(/must have one of/);
  expect(await refused('credentials: { a: { coder: clod, home: x } }\n')).toMatch(
    /credentials\.a\.coder must be one of claude, /,
  );
  expect(await refused('credentials: { a: { coder: claude, home: x, key: y } }\n')).toMatch(
    /credentials\.a\.key is not a known field \(known in credentials\.a: coder, seats, /,
  );
  expect(await refused('credentials: { a: { coder: codex, home: x }, b: { coder: codex, home: x/ } }\n')).toMatch(
    /credentials\.b\.home must not be that of a: a login of codex has one owner/,
  );
  await load(`credentials: { a: { coder: claude, command: [op, read, ${SECRET}] } }\n`);
  const shown = showConfig({ home: temp.path, env: {} });
  expect(shown.find(({ key }) => key === 'credentials.a')?.value).toMatchObject({ command: ['op', '…', '…'] });
});

test('an env file is a file: a pipe would be waited for, and a folder has no lines', async () => {
  await using temp = await tempDir();
  execFileSync('mkfifo', ['-m', '600', `${temp.path}/pipe`]);
  await mkdir(`${temp.path}/folder`, { mode: 0o700 });
  for (const envFile of ['pipe', 'folder'])
    expect(await said(temp.path, { envFile })).toMatch(
      /^credentials\.team\.envFile must be a file that can be read: .* is none$/,
    );
});
