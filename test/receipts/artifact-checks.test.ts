import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRules } from '../../src/adapters/artifacts/read-rules.ts';
import { parseTask } from '../../src/domain/task.ts';
import type { Artifact } from '../../src/domain/artifact.ts';
import type { LinkState } from '../../src/ports.ts';
import { artifacts } from '../../src/receipts/artifacts.ts';
import { linksIn } from '../../src/receipts/links-in.ts';
import { evidenceOf } from './evidence.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fleet-checks-'));
  await mkdir(join(dir, 'tree'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const put = (text: string, path = 'report.md') => writeFile(join(dir, 'tree', path), text);
const collect = (rule: Omit<Artifact, 'path'>, rest: object = {}, path = 'report.md') =>
  artifacts.collect(
    evidenceOf({
      task: { type: 'research', artifacts: [{ path, ...rule }] },
      changes: [],
      rest: { tree: join(dir, 'tree'), outputsDir: join(dir, 'out'), ...rest },
    }),
  );

test('that a file is there and not empty shows nothing', async () => {
  await put('x');
  expect(await collect({})).toMatchObject({ ok: true });
  expect(await collect({})).not.toHaveProperty('shows');
});

describe('matches', () => {
  test('each file has to, and then it is shown', async () => {
    await put('a\n## Findings\n');
    expect(await collect({ matches: '^## Findings$' })).toMatchObject({ ok: true, shows: true });
    await put('none', 'other.md');
    expect(await collect({ matches: '^## Findings$' }, {}, '*.md')).toMatchObject({
      ok: false,
      summary: 'other.md does not match ^## Findings$',
    });
  });

  test('a text that stalls the expression ends with its deadline, and the worker goes on meanwhile', async () => {
    await put(`${'a'.repeat(50_000)}!`);
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 50);
    const finding = await collect({ matches: '(a+)+$' });
    clearInterval(timer);
    expect(finding).toMatchObject({ ok: false, summary: 'report.md: its check did not end within 10s' });
    expect(ticks).toBeGreaterThan(100);
  }, 60_000);
});

describe('schema', () => {
  const schema = { type: 'object', required: ['price'], properties: { price: { type: 'number', minimum: 0 } } };

  test.each([
    ['{"price": 3}', { ok: true, shows: true }],
    ['{"price": "3"}', { ok: false, summary: 'report.md is not as its schema says: /price must be number' }],
    ['{}', { ok: false, summary: "report.md is not as its schema says: it must have required property 'price'" }],
    ['price: 3', { ok: false, summary: 'report.md is no JSON' }],
  ])('%s', async (text, expected) => {
    await put(text);
    expect(await collect({ schema })).toMatchObject(expected);
  });

  test('a file that is too large is not read', async () => {
    await put('{}');
    await truncate(join(dir, 'tree/report.md'), 11 * 1024 * 1024);
    expect(await collect({ schema })).toMatchObject({
      ok: false,
      summary: expect.stringContaining('too large to check'),
    });
  });
});

describe('links', () => {
  const states: Record<string, LinkState['state']> = { 'https://a/there': 'there', 'https://a/gone': 'gone' };
  const told = (links: readonly string[]) =>
    Promise.resolve(links.map((link) => ({ link, state: states[link] ?? 'unknown', why: 'answers so' }) as LinkState));

  test.each([
    ['no link at all', { ok: false, summary: 'report.md has no link' }],
    ['[a](https://a/there#part)', { ok: true, shows: true }],
    ['https://a/there and https://a/gone.', { ok: false, summary: 'report.md: https://a/gone answers so' }],
    ['https://a/there https://a/other', { ok: true, evidence: { unknown: ['report.md: https://a/other answers so'] } }],
  ])('%s', async (text, expected) => {
    await put(text);
    expect(await collect({ links: true }, { askLinks: told })).toMatchObject(expected);
  });

  test('what cannot be told is no evidence', async () => {
    await put('https://a/other');
    expect(await collect({ links: true }, { askLinks: told })).not.toHaveProperty('shows');
  });

  test('a huge list is not asked at all', async () => {
    await put(Array.from({ length: 5_000 }, (_, n) => `https://a/${n}`).join('\n'));
    const askNobody = () => Promise.reject(new Error('asked'));
    expect(await collect({ links: true }, { askLinks: askNobody })).toMatchObject({
      ok: false,
      summary: 'report.md has more than 100 links, which are too many to ask',
    });
  });

  test('they are found as people write them', () => {
    expect(
      linksIn('See (https://x/y_(z)), <https://x/a>, "https://x/b", https://x/c. [d](http://x/d) https:// ftp://x'),
    ).toEqual(['https://x/y_(z)', 'https://x/a', 'https://x/b', 'https://x/c', 'http://x/d']);
  });
});

describe('quotes', () => {
  async function sources(files: Record<string, string>) {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: join(dir, 'repo'), encoding: 'utf8' }).trim();
    await mkdir(join(dir, 'repo/docs'), { recursive: true });
    git('init', '-q');
    for (const [path, text] of Object.entries(files)) await writeFile(join(dir, 'repo', path), text);
    git('add', '-A');
    git('-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-qm', 'Base');
    const { result } = evidenceOf({ changes: [] });
    return { result: { ...result, gitDir: join(dir, 'repo/.git'), base: git('rev-parse', 'HEAD') } };
  }
  const LAW = { 'docs/law.md': 'Nobody may change the price of a thing\nthat was sold before the change.\n' };

  test.each([
    ['> Nobody may change the\n> price of a thing that was sold', { ok: true, shows: true }],
    ['> Nobody may change […] before the change.', { ok: true, shows: true }],
    [
      '> Everybody may change the price of a thing',
      { ok: false, summary: expect.stringContaining('what no source says') },
    ],
    ['> that was sold before … Nobody may change', { ok: false }],
    ['> price', { ok: false, summary: expect.stringContaining('quotes nothing') }],
    ['Nobody may change the price of a thing', { ok: false, summary: expect.stringContaining('quotes nothing') }],
  ])('%j', async (text, expected) => {
    await put(text);
    expect(await collect({ quotes: ['docs'] }, await sources(LAW))).toMatchObject(expected);
  });

  test('a source that only the agent has is none', async () => {
    await put('> Nobody may change the price of a thing');
    expect(await collect({ quotes: ['sources/**'] }, await sources(LAW))).toMatchObject({
      ok: false,
      summary: 'no file of the base matches sources/**, which is to be quoted',
    });
  });
});

describe('rules that nobody could apply are told at once, naming the field', () => {
  const parsed = (artifact: unknown, more: object = {}) => {
    const task = parseTask({ objective: 'x', type: 'research', repo: '/r', artifacts: [artifact], ...more });
    return task.ok ? 'ok' : task.message;
  };

  test.each([
    [{ path: 'a', matches: '(' }, /^artifacts\[0\]\.matches must be a regular expression: /],
    [{ path: 'a', matches: '' }, /^artifacts\[0\]\.matches must not be empty/],
    [{ path: 'a', links: 'yes' }, /^artifacts\[0\]\.links must be true/],
    [{ path: 'a', quotes: [] }, /^artifacts\[0\]\.quotes must be at least 1/],
    [{ path: 'a', schema: '../x.json' }, /^artifacts\[0\]\.schema must be a JSON Schema, or the path/],
    [{ path: 'a', schema: 3 }, /^artifacts\[0\]\.schema must be a JSON Schema, or the path/],
    [{ path: 'a', regex: 'x' }, /^artifacts\[0\]\.regex is not a known field/],
    [{ matches: 'x' }, /^artifacts\[0\]\.path must be a string/],
  ])('%j', (artifact, message) => expect(parsed(artifact)).toMatch(message));

  test('a schema that is too long for a history', () => {
    expect(parsed({ path: 'a', schema: { enum: ['x'.repeat(60_000)] } })).toMatch(
      /^artifacts\[0\]\.schema must be at most 50000/,
    );
  });

  test('what needs a repository', () => {
    expect(parsed({ path: 'a', quotes: 'b' }, { repo: undefined })).toMatch(/^artifacts\[0\]\.quotes must be left out/);
    expect(parsed({ path: 'a', schema: 's.json' }, { repo: undefined })).toMatch(
      /^artifacts\[0\]\.schema must be the JSON/,
    );
  });

  const rules = async (artifact: Omit<Artifact, 'path'>, files: Record<string, string> = {}) => {
    const read = await readRules([{ path: 'a', ...artifact }], (path) => Promise.resolve(files[path]));
    return read.ok ? read.artifacts[0]?.schema : read.message;
  };

  test.each([
    [{ schema: 's.json' }, {}, /^artifacts\[0\]\.schema s\.json is no file of the repository/],
    [{ schema: 's.json' }, { 's.json': '{' }, /^artifacts\[0\]\.schema s\.json is no JSON$/],
    [{ schema: 's.json' }, { 's.json': '[]' }, /^artifacts\[0\]\.schema s\.json is no JSON Schema/],
    [
      { schema: { type: 'nope' } },
      {},
      /^artifacts\[0\]\.schema must be a JSON Schema of draft 2020-12: schema is invalid/,
    ],
    [{ matches: '(a+)+$' }, {}, /^artifacts\[0\]\.matches must be an expression that ends soon/],
    [{ matches: '^x(\\w+\\s?)*y' }, {}, /^artifacts\[0\]\.matches must be an expression that ends soon/],
  ])('%j with %j', async (artifact, files, message) => expect(await rules(artifact, files)).toMatch(message));

  test('a schema of the repository takes the place of its path', async () => {
    expect(await rules({ schema: 's.json' }, { 's.json': '{"type":"object"}' })).toEqual({ type: 'object' });
    for (const matches of ['^# Findings', '^\\s*[-*] \\[ \\] \\S', '^(?:[^,]*,){3}', '\\d{4}-\\d{2}'])
      expect(await rules({ matches })).toBeUndefined();
  });
});
