/**
 * Hooks of Claude Code, a second record of tool calls beside its event stream. One line of JSON a hook, a `HookCall`, goes
 * into the run's named pipe: at most 500 bytes, so that lines of calls side by side never mix (POSIX wants pipes to keep 512
 * together). A hook never fails or holds up its call: without the pipe, or while that is full, it gives up.
 *
 * The agent can write to the pipe as well, remove it, or read from it, and the CLI lets a call pass whose hook failed. So
 * what comes out is evidence that has to agree with the events, no proof by itself.
 */
export function hookSettings(pipe: string): object {
  const command = [process.execPath, '-e', PROGRAM, pipe].map(quoted).join(' ');
  const each = [{ matcher: '*', hooks: [{ type: 'command', command, timeout: 10 }] }];
  return { hooks: { PreToolUse: each, PostToolUse: each, PostToolUseFailure: each } };
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** CommonJS for `node -e`, with the pipe's path as its only argument. */
const PROGRAM = `
const fs = require("fs"), { createHash } = require("crypto");
try {
  const call = JSON.parse(fs.readFileSync(0, "utf8"));
  const asked = JSON.stringify(call.tool_input) || "";
  const said = {
    phase: { PreToolUse: "pre", PostToolUse: "post" }[call.hook_event_name] || "failed",
    id: String(call.tool_use_id).slice(0, 100),
    name: String(call.tool_name).slice(0, 80),
    sha256: createHash("sha256").update(asked).digest("hex"),
    input: (call.tool_input && call.tool_input.command) || asked,
  };
  let line;
  for (let room = 200; ; room -= 20) {
    said.input = String(said.input).slice(0, Math.max(0, room));
    line = JSON.stringify(said) + "\\n";
    if (Buffer.byteLength(line) <= 500 || room <= 0) break;
  }
  const pipe = process.argv[1];
  if (fs.lstatSync(pipe).isFIFO()) {
    const fd = fs.openSync(pipe, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    for (let left = 100; left > 0; left -= 1) {
      try { fs.writeSync(fd, line); break; } catch (error) { if (error.code !== "EAGAIN") throw error; }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
} catch {}
process.exit(0);
`;
