import { describe, expect, test } from '@jest/globals';
import { readRules } from '../../src/adapters/artifacts/read-rules.ts';
import type { Artifact } from '../../src/domain/artifact/artifact-schema.ts';
import { parseTask } from '../../src/domain/task/parse.ts';

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
