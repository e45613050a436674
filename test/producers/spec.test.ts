import { describe, expect, test } from '@jest/globals';
import { planTasks } from '../../src/domain/produce/plan.ts';
import { readSpec, readTaskFile } from '../../src/producers/spec.ts';

const plan = (text: string, name = 'shop') => planTasks([readSpec({ file: 'spec.md', name, text })]);
/** Each task with what it waits for, without the spec's name. */
const waits = (text: string) =>
  Object.fromEntries(
    plan(text).map(({ id, dependsOn }) => [
      id.slice(5),
      dependsOn.map((other) => other.replace(/^shop-/, '')).join(' '),
    ]),
  );

const SPEC_KIT = `# Tasks: Shop

## Format: \`[ID] [P?] [Story] Description\`

- **[P]**: Can run in parallel

## Phase 1: Setup

- [x] T001 Create the project
- [ ] T002 Install the framework
- [ ] T003 [P] Configure linting
- [ ] T004 [P] Configure CI

**Checkpoint**: it builds

## Phase 2: User Story 1

- [ ] T010 [P] [US1] Contract test in test/a.ts
- [ ] T011 [US1] Model in src/a.ts (depends on T002, T004)

## Phase 3: Polish

- [ ] T020 Docs
`;

test('a spec as spec-kit writes it', () => {
  expect(waits(SPEC_KIT)).toEqual({
    ...{ t002: '', t003: 't002', t004: 't002', t010: 't003 t004', t011: 't004', t020: 't010 t011' },
  });
  const [, , , t010] = plan(SPEC_KIT);
  expect(t010).toMatchObject({
    ...{ id: 'shop-t010', label: 'T010', title: 'Contract test in test/a.ts', at: 'spec.md:18' },
    path: ['Tasks: Shop', 'Phase 2: User Story 1'],
    fields: { objective: 'Contract test in test/a.ts', labels: ['US1'] },
  });
});

test('a spec as OpenSpec and Kiro write it', () => {
  const text = `## 1. Core
- [ ] 1.1 Add the table
  - Columns: id, name
  - _Requirements: 1.1, 1.2_
- [ ] 1.2 Add the route

## 2. Page
- [ ] 2. Build the page
  - [ ] 2.1 Form (P)
  - [ ] 2.2 List (P)
    - _Depends: 1.1_
  - [x] 2.3 Header
- [ ] 3. Wire it
  - verify: \`npm run e2e\`
- [ ]* 4. Property tests
`;
  expect(waits(text)).toEqual({ '1.1': '', '1.2': '1.1', '2.1': '1.2', '2.2': '1.1', '3': '2.1 2.2' });
  const tasks = plan(text);
  expect(tasks[0]!.fields['objective']).toBe('Add the table\n\n- Columns: id, name\n- _Requirements: 1.1, 1.2_');
  expect(tasks.find(({ label }) => label === '2.2')).toMatchObject({ path: ['2. Page', 'Build the page'] });
  expect(tasks.at(-1)!.fields).toMatchObject({ verify: ['npm run e2e'], objective: 'Wire it' });
  expect(readSpec({ file: 'spec.md', name: 'shop', text }).leftOut).toEqual([
    { at: 'spec.md:15', text: '[ ]* 4. Property tests' },
  ]);
});

describe('what waits for what', () => {
  test.each([
    ['a list is done in its order', '- [ ] a\n- [ ] b\n- [ ] c', { a: '', b: 'a', c: 'b' }],
    ['also a numbered list', '1. [ ] a\n2. [ ] b', { a: '', b: 'a' }],
    ['what is ticked off is not waited for', '- [ ] a\n- [X] b\n- [ ] c', { a: '', c: 'a' }],
    ['marked neighbours go together', '- [ ] a [P]\n- [ ] (P) b\n- [ ] c', { a: '', b: '', c: 'a b' }],
    ['headings without a number go beside each other', '# A\n- [ ] a\n# B\n- [ ] b', { a: '', b: '' }],
    ['numbered ones in their order', '# 1\n- [ ] a\n# Step 2\n- [ ] b\n# III. x\n- [ ] c', { a: '', b: 'a', c: 'b' }],
    ['items come before the sections below', '# X\n- [ ] a\n## Y\n- [ ] b\n## Z\n- [ ] c', { a: '', b: 'a', c: 'a' }],
    ['parts stand for the whole', '- [ ] a\n- [ ] b\n  - [ ] c\n  - [ ] d\n- [ ] e', { a: '', c: 'a', d: 'c', e: 'd' }],
    ['parts of what is ticked off are done', '- [x] b\n  - [ ] c\n- [ ] e', { e: '' }],
    [
      'it may say otherwise',
      '- [ ] a\n- [ ] b\n- [ ] c (after: a)\n- [ ] d (after: none)',
      { a: '', b: 'a', c: 'a', d: '' },
    ],
    [
      'for what it says, as its id has it',
      '- [ ] Add the schema\n- [ ] b (after: none)\n- [ ] c (after: add-the-schema)',
      { 'add-the-schema': '', b: '', c: 'add-the-schema' },
    ],
    ['what follows waits for both', '- [ ] a\n- [ ] b (after: none)\n- [ ] c', { a: '', b: '', c: 'a b' }],
    [
      'by a name of its own',
      '- [ ] a (id: x)\n- [ ] b (after: y)\n- [ ] c (id: y) (after: x)',
      { x: '', y: 'x', b: 'y' },
    ],
    ['for all parts', '- [ ] T1 a\n  - [ ] c [P]\n  - [ ] d [P]\n- [ ] e (after: t1)', { c: '', d: '', e: 'c d' }],
    ['with its parts', '- [ ] a\n- [ ] b\n- [ ] x (after: a)\n  - [ ] c\n  - [ ] d', { a: '', b: 'a', c: 'a', d: 'c' }],
    [
      'free of any order',
      '---\norder: free\n---\n# 1\n- [ ] a\n- [ ] b\n# 2\n- [ ] c (after: a)',
      { a: '', b: '', c: 'a' },
    ],
    ['no more than is needed', '- [ ] T1 a\n- [ ] T2 b\n- [ ] T3 c (after: T1, T2)', { t1: '', t2: 't1', t3: 't2' }],
    [
      'prose in brackets is prose',
      '- [ ] a (after the migration)\n- [ ] b (depends on the weather)',
      { 'a-after-the-migration': '', 'b-depends-on-the-weather': 'a-after-the-migration' },
    ],
    ['all for another task', '---\ndependsOn: other-task\n---\n- [ ] a\n- [ ] b', { a: 'other-task', b: 'a' }],
  ])('%s', (_, text, expected) => {
    expect(waits(text)).toEqual(expected);
  });
});

describe('what is no task', () => {
  test.each([
    ['prose and plain lists', '# Idea\n\nSome text.\n\n- one\n- [link](x)\n- [P] two'],
    ['code', '```md\n- [ ] a\n```\n\n    - [ ] b'],
    ['quoted', '> - [ ] a'],
    ['commented out', '<!--\n- [ ] a\n-->'],
  ])('%s', (_, text) => {
    expect(readSpec({ file: 'spec.md', name: 'shop', text }).hasItems).toBe(false);
  });
});

test('the front matter is for all tasks, what stands below one is for that', () => {
  const text = `---\r\nname: Big Shop\r\nverify: npm test\r\nlabels: [a]\r\n---\r\n# T\r\n\r\nWhy.\r\n\r\n- [ ] a\r\n  - priority: 10\r\n  - verify:\r\n    - make\r\n    - make test\r\n`;
  expect(plan(text)).toEqual([
    {
      ...{ id: 'big-shop-a', label: null, title: 'a', path: ['T'], dependsOn: [], at: 'spec.md:10' },
      fields: {
        ...{ title: 'a', objective: 'a', labels: ['a'], priority: 10, verify: ['make', 'make test'] },
        context: 'T\n\nWhy.',
      },
    },
  ]);
});

test('lines are those of the file', () => {
  const text =
    '---\nname: x\n---\n\ntext\nmore\n\n- [ ] a\n  with more\n\n  a paragraph\n\n  - [ ] b\n    text\n  - [ ] c\n\n- plain\n\n- [ ] d\n';
  const lines = text.split('\n');
  for (const { at, title } of plan(text)) expect(lines[Number(at.split(':')[1]) - 1]).toContain(`[ ] ${title}`);
  expect(plan(text).map(({ title }) => title)).toEqual(['b', 'c', 'd']);
});

test('the same text has the same id, however long, and a changed one behind a number keeps it', () => {
  const long = `- [ ] ${'word '.repeat(40)}`;
  expect(plan(long)[0]!.id).toBe(plan(`# Moved\n\n${long}`)[0]!.id);
  expect(plan(long)[0]!.id.length).toBeLessThanOrEqual(64);
  expect(plan(`${long} more`)[0]!.id).not.toBe(plan(long)[0]!.id);
  expect(plan('- [ ] T7 some text')[0]!.id).toBe(plan('- [ ] **T7**: other text')[0]!.id);
});

describe('bad input is one sentence with its line', () => {
  test.each([
    [
      'a circle',
      '- [ ] T1 a (after: T2)\n- [ ] T2 b',
      /^spec\.md:1: goes in a circle: shop-t1 waits for shop-t2 waits for shop-t1$/,
    ],
    ['itself', 'x\n\n- [ ] T1 a (after: T1)', /^spec\.md:3: goes in a circle/],
    [
      'an unknown name',
      '- [ ] a\n- [ ] b (after: T9)',
      /^spec\.md:2: waits for T9, and nothing in the spec is called so$/,
    ],
    [
      'an id twice',
      '- [ ] a (id: x)\n- [ ] b (id: x)',
      /^spec\.md:2: x is called as the task at spec\.md:1 is: write \(id: …\)/,
    ],
    ['a text twice', '- [ ] a\n# B\n- [ ] a', /^spec\.md:3: a is called as the task at spec\.md:1 is/],
    ['an unknown field', '---\nname: x\ncolour: red\n---\n- [ ] a', /^spec\.md:3: colour is not a known field$/],
    ['broken front matter', '---\nname: [x\n---\n- [ ] a', /^spec\.md:[23]: the front matter is no valid YAML: /],
    ['front matter that is a list', '---\n- a\n---\n- [ ] a', /^spec\.md:2: the front matter must be fields/],
    ['an order that is none', '---\nname: x\norder: odd\n---\n- [ ] a', /^spec\.md:3: order must be listed or free$/],
    ['an id for many', '---\nid: x\n---\n- [ ] a', /^spec\.md:2: id is for a file that is one task/],
    ['a name without letters', '---\nname: "!"\n---\n- [ ] a', /^spec\.md:2: name "!" gives no ids$/],
    ['a text without letters', '- [ ] a\n- [ ] 你好', /^spec\.md:2: "你好" gives no id: write \(id: …\) behind it$/],
    ['a field that is no YAML', '- [ ] a\n  - labels: [x', /^spec\.md:1: labels is no valid YAML/],
  ])('%s', (_, text, message) => {
    expect(() => plan(text)).toThrow(message);
  });
});

test('a file can be one task', () => {
  const text =
    '---\nid: login\ndependsOn: [schema]\nverify: npm test\n---\n# Add the login\n\nIn src/login.ts.\n\n## Notes\n\nNone.\n';
  const { item, front } = readTaskFile({ file: 'login.md', name: 'login', text });
  expect(front).toBe(true);
  expect(item).toMatchObject({
    ...{ label: 'login', text: 'Add the login', after: ['schema'], fields: { verify: ['npm test'] } },
    details: 'In src/login.ts.\n\n## Notes\n\nNone.',
  });
});
