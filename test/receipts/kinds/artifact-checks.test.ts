import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Artifact } from '../../../src/domain/artifact/artifact-schema.ts';
import type { LinkState } from '../../../src/ports.ts';
import { checkArtifacts } from '../../../src/receipts/kinds/artifact-checks.ts';
import { artifacts } from '../../../src/receipts/kinds/artifacts.ts';
import { linksIn } from '../../../src/receipts/kinds/links-in.ts';
import { cpuMsOf } from '../../helpers/cpu.ts';
import { evidenceOf } from '../evidence.ts';

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

  test('a name of megabytes makes no long sentence', async () => {
    await put(JSON.stringify({ price: 3, more: { ['k'.repeat(5_000_000)]: 'x' } }));
    const strict = { properties: { more: { additionalProperties: { type: 'number' } } } };
    const finding = await collect({ schema: strict });
    expect(finding).toMatchObject({ ok: false });
    expect(finding!.summary.length).toBeLessThan(400);
  });

  test('the checks of all artifacts share one deadline', async () => {
    await put('{"price": 3}');
    const given = evidenceOf({
      task: { type: 'research', artifacts: Array.from({ length: 3 }, () => ({ path: 'report.md', schema })) },
      rest: { outputsDir: join(dir, 'tree') },
    });
    const { problems } = await checkArtifacts(given, ['report.md'], { allMs: 0 });
    expect(problems).toEqual(Array(3).fill('report.md: the checks before it took all of the time that there is'));
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
    [
      'https://a/there https://a/other',
      { ok: true, shows: false, evidence: { unknown: ['report.md: https://a/other answers so'] } },
    ],
  ])('%s', async (text, expected) => {
    await put(text);
    expect(await collect({ links: true }, { askLinks: told })).toMatchObject(expected);
  });

  test('a huge list is not asked at all', async () => {
    await put(Array.from({ length: 5_000 }, (_, n) => `https://a/${n}`).join('\n'));
    const askNobody = () => Promise.reject(new Error('asked'));
    expect(await collect({ links: true }, { askLinks: askNobody })).toMatchObject({
      ok: false,
      summary: 'report.md has more than 100 links, which are too many to ask',
    });
  });

  test('those of all files are asked together, each once', async () => {
    await put('https://a/there https://a/1');
    await put('https://a/there', 'other.md');
    const asked: string[][] = [];
    const ask = (links: readonly string[]) => (asked.push([...links]), told(links));
    await collect({ links: true }, { askLinks: ask }, '*.md');
    expect(asked.map((links) => links.sort())).toEqual([['https://a/1', 'https://a/there']]);
  });

  test('a text that is made to stall the search does not', async () => {
    const text = `https://a${')'.repeat(1_990)} `.repeat(2_000);
    expect(await cpuMsOf(() => linksIn(text))).toBeLessThan(1_500);
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
    ['> Nobody may change the price […] before the change.', { ok: true, shows: true }],
    ['> Nobody … may … change … the … price … of', { ok: false, summary: expect.stringContaining('quotes nothing') }],
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

  test('a file of quotations without end is not searched for, and the worker goes on meanwhile', async () => {
    await put('> Nobody may change the price\n\n'.repeat(300_000));
    const given = await sources(LAW);
    const ms = await cpuMsOf(async () =>
      expect(await collect({ quotes: ['docs'] }, given)).toMatchObject({
        ok: false,
        summary: 'report.md has more than 200 quotations, which are too many to look for',
      }),
    );
    expect(ms).toBeLessThan(5_000);
  });

  test('sources that are too large are not read', async () => {
    await put('> Nobody may change the price');
    const large = await sources({
      'docs/a.txt': 'a'.repeat(26 * 1024 * 1024),
      'docs/b.txt': 'b'.repeat(26 * 1024 * 1024),
    });
    expect(await collect({ quotes: ['docs'] }, large)).toMatchObject({
      ok: false,
      summary: `the files that match docs, which is to be quoted, have ${52 * 1024 * 1024} bytes: at most ${50 * 1024 * 1024}`,
    });
  });

  test('a source that only the agent has is none', async () => {
    await put('> Nobody may change the price of a thing');
    expect(await collect({ quotes: ['sources/**'] }, await sources(LAW))).toMatchObject({
      ok: false,
      summary: 'no file of the base matches sources/**, which is to be quoted',
    });
  });
});
