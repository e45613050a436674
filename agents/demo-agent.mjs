#!/usr/bin/env node
// A small agent for `fleet demo` and for trying things out: no model, no account, no network. It speaks Claude Code's
// stream-json on stdout, reads its prompt from stdin, and behaves as its first argument says.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const behaviour = process.argv[2] ?? 'fix';
const prompt = readFileSync(0, 'utf8');
const emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
let calls = 0;

const say = (text) =>
  emit({ type: 'assistant', message: { id: `msg_${(calls += 1)}`, content: [{ type: 'text', text }], usage: {} } });

/** Calls a tool the way an agent CLI reports it: the call, then its result with the same id. */
function tool(name, input, work) {
  const id = `toolu_${(calls += 1)}`;
  const usage = { input_tokens: 900 + 100 * calls, output_tokens: 40 };
  emit({ type: 'assistant', message: { id: `msg_${calls}`, content: [{ type: 'tool_use', id, name, input }], usage } });
  let [content, isError] = ['', false];
  try {
    content = String(work() ?? '');
  } catch (error) {
    [content, isError] = [String(error.stdout ?? error.message), true];
  }
  emit({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] } });
}
const bash = (command) =>
  tool('Bash', { command }, () =>
    execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
  );
const edit = (file, from, to) =>
  tool('Edit', { file_path: file, old_string: from, new_string: to }, () =>
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to)),
  );
function end(text) {
  const usage = { input_tokens: 4_000, output_tokens: 40 * calls };
  emit({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: text,
    num_turns: calls,
    total_cost_usd: 0,
    usage,
  });
}

const BUG = 'return price - percent;';
const HALF = 'return price - price * percent;';
const FIX = 'return price - (price * percent) / 100;';

const behaviours = {
  fix() {
    say('The discount subtracts percent points from the price.');
    edit('src/discount.js', BUG, FIX);
    bash('node --test');
    bash('git commit -qam "Take percent of the price"');
    end('Fixed the discount; the tests pass.');
  },
  lie() {
    say('I have fixed the discount.');
    end('All done: 86/86 tests pass.');
  },
  weaken() {
    say('The tests are too strict.');
    edit('test/discount.test.js', 'assert.equal(discount(200, 10), 180)', 'assert.ok(true)');
    bash('node --test');
    bash('git commit -qam "Make the tests pass"');
    end('Fixed: all tests pass.');
  },
  hang() {
    say('Let me think about this.');
    setInterval(() => {}, 1 << 30);
  },
  learn() {
    const told = prompt.includes('Earlier runs of this task were rejected');
    say(told ? 'The earlier run was rejected: percent is not a share.' : 'The discount is wrong.');
    // Told why, it goes on from what it made before.
    if (told) edit('src/discount.js', HALF, FIX);
    else edit('src/discount.js', BUG, HALF);
    bash('git commit -qam "Take percent of the price"');
    end('Fixed the discount.');
  },
  daemon() {
    spawn('sleep', ['86400'], { detached: true, stdio: 'ignore' }).unref();
    behaviours.fix();
  },
};

emit({
  type: 'system',
  subtype: 'init',
  session_id: process.env.FLEET_RUN,
  model: 'scripted',
  tools: ['Bash', 'Edit'],
});
behaviours[behaviour]();
