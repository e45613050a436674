import { but, CALC, WELL, type Case, type End } from './case.ts';

const changed = async ({ git, report }: End, ref = 'main'): Promise<string> =>
  git('-c', 'core.quotePath=false', 'diff', '--name-status', '-M100%', ref, report.commit!);
/** Delivered is exactly this: `git diff --name-status` by lines. */
const delivers = (expected: string) => async (end: End) => {
  const seen = await changed(end);
  return seen === expected ? undefined : `delivered was ${JSON.stringify(seen)}`;
};
const FIXED = delivers('M\tsrc/multiply.js');

/** Odd ways to work. */
const ways: Case[] = [
  { name: 'fixes-and-commits', agent: 'fix; commit', expect: 'done', after: FIXED, often: true },
  {
    name: 'fixes-under-all-checks',
    speaks: 'claude',
    task: { verify: { failToPass: ['multiplies'] }, scope: { protect: ['test/**'], allow: ['src/**'] } },
    agent: `hello; call Edit '{"file_path":"src/multiply.js"}'; fix; commit; ran 'node --test'; bye 'Fixed: multiply multiplies, the tests pass.'`,
    expect: 'done',
    after: FIXED,
    often: true,
  },
  { name: 'leaves-work-uncommitted', agent: 'fix', expect: 'done', after: FIXED, often: true },
  { name: 'leaves-work-staged', agent: 'fix; git add -A', expect: 'done', after: FIXED },
  {
    name: 'empty-commit-messages',
    agent: 'fix; git add -A; git commit -q --allow-empty-message -m ""',
    expect: 'done',
    after: FIXED,
  },
  { name: 'empty-commits', agent: 'fix; commit; git commit -q --allow-empty -m Nothing', expect: 'done', after: FIXED },
  { name: 'works-detached', agent: 'git checkout -q --detach; fix; commit', expect: 'done', after: FIXED, often: true },
  {
    name: 'works-on-several-branches',
    agent: `git checkout -q -b side; fix; commit; git checkout -q -; git checkout -q -b other; echo 1 > note.txt; commit
      git checkout -q -; git merge -q --no-ff -m Merge side`,
    expect: 'done',
    after: FIXED,
  },
  {
    name: 'ends-on-another-branch',
    agent: 'git checkout -q -b feature; fix; commit',
    expect: 'done',
    after: FIXED,
  },
  {
    name: 'rewrites-its-own-commits',
    agent: 'echo 1 > src/multiply.js; commit Try; fix; git add -A; git commit -q --amend -m Fix; git gc -q --prune=now',
    expect: 'done',
    after: FIXED,
  },
  {
    name: 'leaves-a-stash-and-a-tag',
    agent: 'echo 1 > src/sum.js; git stash -q; fix; commit; git tag v1',
    expect: 'done',
    after: FIXED,
  },
  {
    name: 'fixes-and-then-crashes',
    agent: 'fix; commit; kill -SEGV $$',
    expect: { reason: ['crashed', 'agent-error'] },
    after: async ({ report }) => (report.runs[0]?.commit ? undefined : 'its work was not kept for a person'),
    often: true,
  },
  {
    name: 'fixes-and-ends-with-an-error',
    agent: 'fix; commit; exit 3',
    expect: { reason: 'agent-error' },
    after: async ({ report }) => (report.runs[0]?.commit ? undefined : 'its work was not kept for a person'),
  },
  {
    name: 'runs-the-tests-itself',
    agent: 'fix; node --test > test.log 2>&1; rm test.log; commit',
    expect: 'done',
    after: FIXED,
  },
  {
    name: 'prints-very-much',
    agent: 'fix; commit; yes "all work and no play" | head -c 3000000',
    expect: 'done',
    after: FIXED,
  },
];

/** Odd changes. */
const WHOLE = { objective: 'Tidy up.' };
const changes: Case[] = [
  {
    name: 'huge-diff',
    base: WELL,
    task: WHOLE,
    agent: `seq 1 20000 > docs/long.txt; i=0; while [ $i -lt 300 ]; do echo "page $i" > docs/page-$i.md; i=$((i + 1)); done; commit`,
    expect: 'done',
  },
  {
    name: 'renames-only',
    base: WELL,
    task: WHOLE,
    agent: 'git mv docs guide; git commit -qm Rename',
    expect: 'done',
    after: delivers('R100\tdocs/guide.md\tguide/guide.md\nR100\tdocs/more/notes.md\tguide/more/notes.md'),
  },
  {
    name: 'renames-and-edits',
    base: WELL,
    task: WHOLE,
    agent: 'git mv docs/guide.md docs/manual.md; echo More >> docs/manual.md; commit',
    expect: 'done',
  },
  {
    name: 'renames-by-case-only',
    base: WELL,
    task: WHOLE,
    agent: 'git mv docs/guide.md docs/Guide.md; commit',
    expect: 'done',
  },
  {
    name: 'binary-files',
    base: WELL,
    task: WHOLE,
    agent: `head -c 300000 /dev/urandom > logo.png; printf 'a\\0b' > zero.dat; printf '\\377\\376' > "latin.txt"; commit`,
    expect: 'done',
    after: delivers('A\tlatin.txt\nA\tlogo.png\nA\tzero.dat'),
  },
  {
    name: 'unicode-and-space-names',
    base: WELL,
    task: WHOLE,
    agent: `mkdir -p 'a b/ñ'; echo 1 > 'a b/ñ/漢字 🚀.txt'; echo 2 > "it's \\"quoted\\".txt"; echo 3 > '-rf'; echo 4 > 'tab	bed'; git add -A -- .; git commit -qm Names`,
    expect: 'done',
  },
  {
    name: 'executable-bit-only',
    base: WELL,
    task: WHOLE,
    agent: 'chmod +x run.sh; commit',
    expect: 'done',
    after: async ({ git, report }) =>
      (await git('ls-tree', report.commit!, 'run.sh')).startsWith('100755') ? undefined : 'the mode was lost',
  },
  {
    name: 'link-inside-the-tree',
    base: WELL,
    task: WHOLE,
    agent: 'ln -s docs/guide.md GUIDE; ln -s ../src docs/src; commit',
    expect: 'done',
    after: delivers('A\tGUIDE\nA\tdocs/src'),
  },
  {
    name: 'deletes-what-it-was-told-to',
    base: WELL,
    task: { objective: 'Remove docs/.' },
    agent: 'git rm -rq docs; git commit -qm "Remove docs"',
    expect: 'done',
  },
  {
    name: 'file-becomes-folder',
    base: WELL,
    task: WHOLE,
    agent: 'git rm -q docs/guide.md; mkdir docs/guide.md; echo 1 > docs/guide.md/index.md; commit',
    expect: 'done',
  },
  {
    name: 'formats-many-files',
    base: WELL,
    task: WHOLE,
    agent: `sed -i 's/$/ /; s/ $//; s/;$/ ;/' src/*.js test/*.js; commit Format`,
    expect: 'done',
  },
  {
    name: 'keeps-crlf',
    base: but(CALC, {
      'src/multiply.js': 'export const multiply = (a, b) => a + b;\r\n// By DOS.\r\n',
      'docs/dos.txt': 'one\r\ntwo\r\n',
    }),
    agent: `sed -i 's/a + b/a * b/' src/multiply.js; commit`,
    expect: 'done',
    after: async (end) =>
      (await FIXED(end)) ??
      ((await end.git('diff', 'main', end.report.commit!)).includes('* b;\r') ? undefined : 'the line ending was lost'),
  },
  {
    name: 'crlf-by-attributes',
    base: but(CALC, { '.gitattributes': '* text=auto\n*.js eol=crlf\n' }),
    agent: `sed -i 's/a - b/a * b/' src/multiply.js; commit`,
    expect: 'done',
    after: FIXED,
  },
];

export const honestWork: readonly Case[] = [...ways, ...changes];
