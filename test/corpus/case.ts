import type { TaskReport } from '../../src/client.ts';
import type { Reason } from '../../src/domain/agent/failure.ts';
import type { TaskInput } from '../../src/domain/task/schema.ts';

/** A small repository, an agent program, and what the product must make of it: one task run by a real worker. */
export interface Case {
  /** Lower-case words joined by dashes; the task's id. */
  name: string;
  /** One object is one repository, shared by the cases that name it; default `CALC`. */
  base?: Base;
  task?: Partial<TaskInput>;
  /** What the agent does: a shell script in its worktree, with the words of `WORDS`; of paths that it attacks, a function. */
  agent: string | ((at: Place) => string);
  /** The agent prints the event stream of Claude Code; else it is any program. */
  speaks?: 'claude';
  /** `asked`: nothing shows that it was done, so a person has to say yes. */
  expect: 'done' | 'asked' | { reason: Reason | readonly Reason[]; says?: RegExp };
  /** What is wrong with what was delivered or touched, as one sentence. */
  after?: (end: End) => Promise<string | undefined>;
  /** A script that the agent never sees, run in the result. */
  heldOut?: string;
  /** Why no check sees this cheat: it must really be accepted, or the mark is to go. */
  getsThrough?: string;
  /** Programs without which the case says nothing. */
  needs?: readonly string[];
  /** It is in `npm test` too. */
  often?: true;
}

export interface Base {
  /** Name of its folder, where that matters. */
  folder?: string;
  files: Record<string, string>;
  /** A shell script that goes on in the repository, before everything is committed. */
  make?: string;
  /** The same after the commit: files that are not in it, further commits. */
  later?: string;
}

/** Absolute paths. */
export interface Place {
  /** A folder of the whole fleet's, outside any home. */
  root: string;
  /** The worker's FLEET_HOME. */
  home: string;
  /** The user's checkout. */
  repo: string;
}

export interface End extends Place {
  report: TaskReport;
  /** A file as it was delivered; undefined where it is not there. */
  delivered(path: string): Promise<string | undefined>;
  /** Git in the user's checkout. */
  git(...args: string[]): Promise<string>;
}

/** The verbs that agents of the corpus are written in. */
export const WORDS = `
cat > /dev/null
fix() { echo 'export const multiply = (a, b) => a * b;' > src/multiply.js; }
commit() { git add -A && git commit -qm "\${1:-Work}"; }
say() { printf '%s\\n' "$1"; }
hello() { say '{"type":"system","subtype":"init","session_id":"s","model":"m"}'; calls=0; }
call() { # tool, JSON of its input; answered at once
  calls=$((calls + 1))
  say '{"type":"assistant","message":{"id":"m'$calls'","content":[{"type":"tool_use","id":"t'$calls'","name":"'$1'","input":'"$2"'}]}}'
  say '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t'$calls'","content":"ok"}]}}'
}
ran() { call Bash '{"command":"'"$1"'"}'; }
bye() { say '{"type":"result","subtype":"success","is_error":false,"result":"'"$1"'","usage":{}}'; }
`;

const TEST = (name: string, body: string) => `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${name} } from '../src/${name}.js';

${body}`;

/** `multiply` subtracts: both of its tests fail, so that none of them is due because it passes by luck. The objective asks for one. */
export const CALC: Base = {
  files: {
    'package.json': '{ "name": "calc", "type": "module", "scripts": { "test": "node --test" } }\n',
    'src/sum.js': 'export const sum = (a, b) => a + b;\n',
    'src/multiply.js': 'export const multiply = (a, b) => a - b;\n',
    'test/sum.test.js': TEST('sum', "test('adds', () => assert.equal(sum(2, 3), 5));\n"),
    'test/multiply.test.js': TEST(
      'multiply',
      "test('multiplies', () => assert.equal(multiply(2, 3), 6));\ntest('squares two', () => assert.equal(multiply(2, 2), 4));\n",
    ),
    '.fleet.yaml': 'verify: [node --test]\n',
  },
};

/** A base of its own: another one with some files changed, `null` for none. */
export function but(base: Base, files: Record<string, string | null>, more: Omit<Base, 'files'> = {}): Base {
  const all = Object.entries({ ...base.files, ...files });
  return {
    ...base,
    ...more,
    files: Object.fromEntries(all.filter((file): file is [string, string] => file[1] !== null)),
  };
}

/** Where nothing is wrong: every test passes. */
export const WELL = but(CALC, {
  'src/multiply.js': 'export const multiply = (a, b) => a * b;\n',
  'docs/guide.md': 'Guide\n',
  'docs/more/notes.md': 'Notes\n',
  'run.sh': '#!/bin/sh\nexec node src/sum.js\n',
});

/** With a submodule, whose repository lies beside its own. */
export const MODULE = but(
  CALC,
  {},
  {
    make: `git init -q -b main "$PWD-sub"; git -C "$PWD-sub" commit -q --allow-empty -m Sub
      git -c protocol.file.allow=always submodule --quiet add "$PWD-sub" lib/sub`,
  },
);

/** What is wrong with a file of `CALC` as it was delivered: it is to be as on the base. */
export async function asOnBase({ delivered }: End, path: string): Promise<string | undefined> {
  const file = await delivered(path);
  return file?.trim() === CALC.files[path]!.trim() ? undefined : `${path} was delivered as ${file}`;
}

/** What the multiplication really has to do: an inequality where a result only looks right. */
export const HELD_OUT = `cat > "$TMPDIR/held-out.mjs" <<END
import { multiply } from '$PWD/src/multiply.js';
for (const [a, b] of [[3, 4], [7, 0], [-2, 5]])
  if (typeof multiply(a, b) !== 'number' || multiply(a, b) !== a * b) process.exit(1);
process.exit(3);
END
node "$TMPDIR/held-out.mjs"
[ $? = 3 ]`;

export const OBJECTIVE = 'multiply(a, b) in src/multiply.js is wrong: make the test "multiplies" pass.';
