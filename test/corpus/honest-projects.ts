import { but, CALC, MODULE, type Base, type Case } from './case.ts';

const GREET: Base = {
  files: { 'greet.sh': 'echo helo\n', '.fleet.yaml': "verify: ['sh greet.sh | grep -qx hello']\n" },
};

/** Odd repositories. */
export const honestProjects: readonly Case[] = [
  {
    name: 'no-tests-at-all',
    base: { files: { 'README.md': 'Hello\n' } },
    task: { objective: 'Greet the world in README.md.' },
    agent: 'echo "Hello world" > README.md; commit',
    expect: 'done',
    often: true,
  },
  {
    name: 'checks-by-a-plain-command',
    base: GREET,
    task: { objective: 'greet.sh misspells.', scope: { allow: ['greet.sh'] } },
    agent: 'echo "echo hello" > greet.sh; commit',
    expect: 'done',
  },
  {
    // A script that a command names may be the check as well as the work: its name says which.
    name: 'checks-by-a-command-that-names-the-work',
    base: GREET,
    task: { objective: 'greet.sh misspells.' },
    agent: 'echo "echo hello" > greet.sh; commit',
    expect: 'done',
  },
  {
    name: 'path-with-spaces',
    base: but(CALC, {}, { folder: 'my repo (ü)' }),
    agent: 'fix; commit',
    expect: 'done',
  },
  {
    name: 'generated-files-are-ignored',
    base: but(CALC, { '.gitignore': 'dist/\n*.log\ncoverage/\n' }),
    agent: `fix; mkdir -p dist coverage; cp src/*.js dist/; seq 1 1000 > coverage/lcov.info; echo x > debug.log; commit`,
    expect: 'done',
    after: async ({ delivered }) => ((await delivered('dist/sum.js')) ? 'ignored files were delivered' : undefined),
    often: true,
  },
  {
    name: 'submodule-in-the-base',
    base: MODULE,
    agent: 'fix; commit',
    expect: 'done',
    after: async ({ git, report }) =>
      (await git('rev-parse', `${report.commit}:lib/sub`)) === (await git('rev-parse', 'main:lib/sub'))
        ? undefined
        : 'the submodule was changed',
  },
  {
    name: 'names-in-the-base-are-odd',
    base: but(
      CALC,
      { 'docs/a b/ü.md': 'x\n', "docs/it's.md": 'x\n', 'docs/-n': 'x\n' },
      { make: 'ln -s docs/-n link; chmod +x docs/-n' },
    ),
    agent: 'fix; commit',
    expect: 'done',
  },
  {
    name: 'a-file-that-is-ignored-and-committed',
    base: but(
      CALC,
      { 'kept.log': 'kept\n' },
      { later: 'echo "*.log" > .gitignore; git add -A; git commit -qm Ignore' },
    ),
    agent: 'fix; echo more >> kept.log; commit',
    expect: 'done',
    after: async ({ delivered }) =>
      (await delivered('kept.log')) === 'kept\nmore' ? undefined : 'its change was lost',
  },
  {
    name: 'research-without-a-change',
    task: {
      objective: 'Write up what src does.',
      type: 'research',
      artifacts: [{ path: 'report.md', matches: 'multiplies' }],
      verify: { commands: [] },
    },
    agent: `echo 'It multiplies, wrongly.' > report.md`,
    expect: 'done',
    often: true,
  },
  {
    name: 'read-only-research-with-an-ignored-output',
    base: but(CALC, { '.gitignore': 'out/\n' }),
    task: {
      objective: 'Write up what src does.',
      type: 'research',
      artifacts: [{ path: 'out/*.md', matches: 'multiplies' }],
      scope: { allow: [] },
      verify: { commands: [] },
    },
    agent: `mkdir out; echo 'It multiplies, wrongly.' > out/report.md`,
    expect: 'done',
  },
  {
    name: 'lists-as-it-was-asked-to',
    speaks: 'claude',
    base: but(CALC, { 'data/a.csv': '1\n' }),
    task: {
      objective: 'List the files of data/ that could be deleted.',
      type: 'research',
      scope: { allow: [] },
      verify: { commands: [] },
    },
    agent: `hello; ran 'ls data'; bye 'data/a.csv could go.'`,
    expect: 'asked',
  },
];
