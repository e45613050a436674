import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readHooks } from '../../src/activities/output/read-hooks.ts';
import { hookSettings } from '../../src/coders/shared/hooks.ts';
import { bench, type Bench } from './keeper-bench.ts';

/** The command line of a hook, as it stands in the settings. */
const hookOf = (b: Bench): string => {
  const { hooks } = hookSettings(b.run.hooks) as { hooks: { PreToolUse: [{ hooks: [{ command: string }] }] } };
  return hooks.PreToolUse[0].hooks[0].command;
};
/** Files for the agent to give to its hooks. */
const asked = (b: Bench, name: string, call: object): string => {
  writeFileSync(`${b.run.work}/${name}`, JSON.stringify(call));
  return `${b.run.work}/${name}`;
};
const call = (id: string, command: string, event = 'PreToolUse') => ({
  ...{ hook_event_name: event, tool_name: 'Bash', tool_input: { command }, tool_use_id: id },
});

test('what hooks say comes out beside the output, counted and hashed, where the agent cannot reach it', async () => {
  await using b = await bench();
  const pre = asked(b, 'pre', call('c1', `echo 'ü'${'x'.repeat(100_000)}`));
  const post = asked(b, 'post', call('c1', 'echo', 'PostToolUse'));
  await b.launch(
    b.order(`${hookOf(b)} <${pre}; ${hookOf(b)} <${post}; echo out; ls ${b.logs}`, { hooks: b.run.hooks }),
  );
  const exit = await b.end();
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(exit).toMatchObject({ exitCode: 2, stdout: { bytes: 4 }, hooks: { bytes: expect.any(Number), sha256 } });
  const log = await readHooks(b.logs);
  expect(log).toMatchObject({ garbage: 0, whole: true });
  expect(log!.calls).toEqual([
    { phase: 'pre', id: 'c1', name: 'Bash', sha256, input: expect.stringMatching(/^echo 'ü'x{90,}$/) },
    { phase: 'post', id: 'c1', name: 'Bash', sha256, input: 'echo' },
  ]);
  expect(log!.calls[1]!.sha256).toBe(createHash('sha256').update('{"command":"echo"}').digest('hex'));
});

test('hooks of calls side by side do not mix', async () => {
  await using b = await bench();
  const file = asked(b, 'call', call('c1', 'x'.repeat(10_000)));
  await b.launch(b.order(`for i in $(seq 20); do ${hookOf(b)} <${file} & done; wait`, { hooks: b.run.hooks }));
  expect(await b.end()).toMatchObject({ exitCode: 0 });
  const log = await readHooks(b.logs);
  expect([log?.calls.length, log?.garbage]).toEqual([20, 0]);
});

test('a hook neither fails nor waits where its pipe is gone, and garbage is only counted', async () => {
  await using b = await bench();
  const file = asked(b, 'call', call('c1', 'true'));
  const script = `echo nonsense >${b.run.hooks}; rm ${b.run.hooks}; ${hookOf(b)} <${file} && ${hookOf(b)} </dev/null && ls ${b.run.hooks}`;
  await b.launch(b.order(script, { hooks: b.run.hooks }));
  expect(await b.end()).toMatchObject({ exitCode: 2, hooks: { bytes: 9 } });
  expect(await readHooks(b.logs)).toEqual({ calls: [], garbage: 1, whole: true });
});

test('a link that setup left where the pipe belongs is not followed, a folder there only means no hooks', async () => {
  await using b = await bench();
  const victim = asked(b, 'victim', {});
  symlinkSync(victim, b.run.hooks);
  await b.launch(
    b.order(`[ -p ${b.run.hooks} ] && ! [ -L ${b.run.hooks} ] && [ -f ${victim} ]`, { hooks: b.run.hooks }),
  );
  expect(await b.end()).toMatchObject({ exitCode: 0 });

  await using other = await bench();
  mkdirSync(other.run.hooks);
  await other.launch(other.order('true', { hooks: other.run.hooks }));
  expect(await other.end()).toMatchObject({ exitCode: 0, hooks: { bytes: 0 } });
  expect(await readHooks(other.logs)).toBeNull();
});

test('an order without hooks, as an older worker gives it, makes no pipe', async () => {
  await using b = await bench();
  await b.launch(b.order(`! [ -e ${b.run.hooks} ]`));
  const exit = await b.end();
  expect(exit).toMatchObject({ exitCode: 0 });
  expect(exit).not.toHaveProperty('hooks');
});
