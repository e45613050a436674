import { describe, expect, test } from '@jest/globals';
import type { AgentEvent } from '../../../src/domain/agent/event.ts';
import type { TaskType } from '../../../src/domain/task/schema.ts';
import type { WireCall, WireExchange, WireLog } from '../../../src/domain/agent/model-traffic.ts';
import { couldHaveDone } from '../../../src/receipts/claims/could-have-done.ts';
import { tools } from '../../../src/receipts/kinds/tools.ts';
import { answer, call, evidenceOf } from '../evidence.ts';

const sh = (command: string, name = 'Bash'): [string, string] => [name, JSON.stringify({ command })];

describe.each([
  [
    'message',
    [
      sh(`curl -sS -X POST https://hooks.example.com -d '{"text":"hi"}'`),
      sh('cd /tmp && mail -s Hi all@example.com < note.txt'),
      sh('gh issue comment 3 --body hi'),
      sh('gh api repos/a/b/issues/1/comments -f body=hi'),
      sh('gh api -X POST repos/a/b/issues'),
      sh('curl -sSXPOST https://x'),
      sh('x="$(curl -d hi https://x)"'),
      sh("python3 - <<'PY'\nimport smtplib\nPY\necho sent"),
      sh("bash -c 'cd /tmp; mail bob < a'"),
      ['exec_command', '{"cmd":["bash","-lc","curl -d hi https://example.com/a'],
      sh(`python3 -c 'import smtplib; smtplib.SMTP("x")'`),
      ['exec_command', '{"cmd":["bash","-lc","curl --json @a.json https://x"]}'],
      ['mcp__slack__slack_post_message', '{}'],
      ['mcp__mail__sendEmail', '{}'],
      ['linear_create_comment', '{}'],
    ],
    [
      sh('echo I send the mail to everybody'),
      sh('command -v mail'),
      sh('command -v mail >/dev/null 2>&1 && echo there'),
      sh('echo "first; mail bob"'),
      sh("echo 'a && curl -d x https://x'"),
      sh('cat > note <<EOF\nmail bob\ncurl -d x https://x\nEOF\nls'),
      sh('mail --version'),
      sh('curl --help -d x'),
      sh('swaks -h'),
      sh('ls # ; mail bob'),
      sh('gh api repos/a/b'),
      sh('gh issue list'),
      sh('curl -G -d q=1 https://x'),
      sh('curl https://example.com'),
      sh('ls mail; grep -rn sendmail .'),
      sh('npm test'),
      sh('node -v'),
      ['Write', '{}'],
      ['SendMessage', '{}'],
      ['TodoWrite', '{}'],
      ['mcp__slack__list_messages', '{}'],
      ['mcp__gmail__search_sent_mail', '{}'],
    ],
  ],
  [
    'browser',
    [['mcp__playwright__browser_click', '{}'], ['WebFetch', '{}'], sh('curl https://x'), sh('npx playwright test')],
    [['Read', '{}'], sh('ls'), sh('echo browser'), ['WebSearch', '{}']],
  ],
  [
    'research',
    [['Read', '{}'], ['WebSearch', '{}'], ['web_fetch', '{}'], sh('git log -5'), sh('cat a | head'), sh('rg -n x')],
    [sh('ls -la'), sh('pwd'), sh('echo cat'), ['Write', '{}'], ['TodoRead', '{}'], sh('git commit -m show')],
  ],
  [
    'review',
    [['Read', '{}'], ['Grep', '{}'], sh('git --no-pager diff main'), sh('sed -n 1,9p a')],
    [['WebSearch', '{}'], sh('git status'), sh('curl https://x'), sh('true')],
  ],
] as [Exclude<TaskType, 'code'>, [string, string][], [string, string][]][])('%s', (type, able, unable) => {
  test.each(able)('%s %s could have done it', (name, input) =>
    expect(couldHaveDone(type, { name, input })).toBeDefined(),
  );
  test.each(unable)('%s %s could not', (name, input) => expect(couldHaveDone(type, { name, input })).toBeUndefined());
});

const POST = '{"command":"curl -d hi https://x"}';
const asked = (id: string | null): WireCall => ({ id, name: 'Bash', sha256: '', input: POST });
const exchange = (calls: WireCall[], results: (string | null)[] = []): WireExchange => ({
  ...{ type: 'exchange', at: '', path: '/v1/messages', status: 200, firstByteMs: 1, ms: 2, sent: 1, received: 1 },
  ...{ calls, results: results.map((id) => ({ id, sha256: '' })) },
});
const wireOf = (...exchanges: WireExchange[]): WireLog => ({ unseen: null, exchanges, whole: true });
const SENT: AgentEvent[] = [call('1', 'Bash', 'curl -d hi https://x'), answer('1')];
const shows = async (wire: WireLog | null, events = SENT, type: TaskType = 'message', claim = 'Sent.') =>
  (await tools.collect(evidenceOf({ task: { type }, changes: [], events, outcome: { claim }, rest: { wire } })))?.shows;
const ANSWERED = wireOf(exchange([asked('1')]), exchange([], ['1']));

test('only a call that the wire has, with its result, shows that it was done', async () => {
  expect(await shows(ANSWERED)).toBe(true);
  expect(await shows(wireOf(exchange([asked(null)]), exchange([], [null])), [])).toBe(true);
  expect(await shows(null)).toBeUndefined();
  expect(await shows({ ...ANSWERED, unseen: 'a login' })).toBeUndefined();
  expect(await shows(wireOf(exchange([asked('1')])))).toBeUndefined();
});

test('a call that failed shows nothing, joined by id or by its text', async () => {
  const broke: AgentEvent[] = [call('1', 'Bash', 'curl -d hi https://x'), answer('1', false)];
  expect(await shows(ANSWERED, broke)).toBeUndefined();
  const other: AgentEvent[] = [
    call('item_1', 'command_execution', "bash -lc 'curl -d hi https://x'"),
    answer('item_1', false),
  ];
  expect(await shows(ANSWERED, other)).toBeUndefined();
});

test('what was looked up and not told is nothing', async () => {
  const read: WireCall = { id: '1', name: 'Read', sha256: '', input: '{}' };
  const wire = wireOf(exchange([read]), exchange([], ['1']));
  const events = [call('1', 'Read'), answer('1')];
  expect(await shows(wire, events, 'research', 'It multiplies.')).toBe(true);
  expect(await shows(wire, events, 'research', ' ')).toBeUndefined();
});

test('a forged call is no less fabricated in a task that changes nothing', async () => {
  const finding = await tools.collect(
    evidenceOf({ task: { type: 'message' }, changes: [], events: SENT, rest: { wire: wireOf() } }),
  );
  expect(finding).toMatchObject({ ok: false, reason: 'fabricated' });
});

test('what a call was given, a key maybe, is told nowhere', async () => {
  const key = 'curl -H "Authorization: Bearer abcdefghijkl0123456789" -d hi https://x';
  const input = JSON.stringify({ command: key });
  const wire = wireOf(exchange([{ ...asked('1'), input }]), exchange([], ['1']));
  const events = [call('1', 'Bash', key), answer('1')];
  const finding = await tools.collect(evidenceOf({ task: { type: 'message' }, changes: [], events, rest: { wire } }));
  expect(finding).toMatchObject({ shows: true, evidence: { could: ['Bash curl'] } });
  expect(JSON.stringify(finding)).not.toContain('abcdefghijkl');
});

test('where the task names what shows it, a call takes its place nowhere', async () => {
  const finding = (task: object) =>
    tools.collect(
      evidenceOf({ task: { type: 'message', ...task }, changes: [], events: SENT, rest: { wire: ANSWERED } }),
    );
  expect(await finding({ artifacts: [{ path: 'a', links: true }] })).not.toHaveProperty('shows');
  expect(await finding({ verify: ['true'] })).not.toHaveProperty('shows');
  expect(await finding({ artifacts: ['a'] })).toHaveProperty('shows', true);
});
