import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findProgram } from '../../src/adapters/program/find-program.ts';
import { whatFailed } from '../../src/receipts/trial/failed-check.ts';
import { readTests, watchTests } from '../../src/receipts/runners/index.ts';
import { tempDir } from '../helpers/temp.ts';
import { until } from '../helpers/until.ts';

/** The report of a run that is killed, as a trial's end kills it, once its slot has that word. */
async function killedIn(command: string, { file, text, word }: { file: string; text: string; word: string }) {
  await using temp = await tempDir();
  const [tree, dir, home] = ['tree', 'aside/reports', 'home'].map((name) => join(temp.path, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [tree, home]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(tree, file), text);
  writeFileSync(join(tree, 'go.mod'), 'module calc\n\ngo 1.20\n');
  const { env, path } = await watchTests(dir);
  const own = { HOME: home, GOCACHE: join(homedir(), '.cache/go-build'), ...env };
  const PATH = [...path, process.env['PATH']].join(':');
  const child = spawn('sh', ['-c', command], { cwd: tree, detached: true, stdio: 'ignore', env: { ...own, PATH } });
  const ended = once(child, 'close');
  const slots = () => readdirSync(join(dir, 'reports')).filter((name) => name.endsWith('.now'));
  const held = (name: string) => readFileSync(join(dir, 'reports', name), 'utf8');
  try {
    await until(() => Promise.resolve(slots().some((name) => held(name).includes(word))));
    expect(slots().map((name) => held(name).length)).toEqual(slots().map(() => 4_096));
  } finally {
    process.kill(-child.pid!, 'SIGKILL');
    await ended;
  }
  return readTests({ dir, tree, results: [] });
}

const PYTHON = 'def test_well():\n    pass\n\ndef test_for_ever():\n    while True:\n        pass\n';
const UNITTEST = `import unittest

class Calc(unittest.TestCase):
    def test_for_ever(self):
        while True:
            pass
`;
const GO = `package calc

import "testing"

func TestWell(t *testing.T)    {}
func TestForEver(t *testing.T) { for { } }
`;
const NODE = `const { test } = require('node:test');
test('well', () => {});
test('for ever', () => new Promise(() => setInterval(() => {}, 1_000)));
`;

test.each<[program: string, command: string, file: string, text: string, word: string, named: string]>([
  ['pytest', 'pytest', 'test_calc.py', PYTHON, 'test_for_ever', 'test_for_ever (test_calc.py)'],
  ['python3', 'python3 -m unittest', 'test_calc.py', UNITTEST, 'test_for_ever', 'Calc::test_for_ever (test_calc.py)'],
  ['go', 'go test ./...', 'calc_test.go', GO, 'TestForEver', 'calc > TestForEver'],
  ['node', 'node --test', 'calc.test.js', NODE, 'for ever', 'for ever (calc.test.js)'],
])('an endless test of %s is named where its run is ended', async (program, command, file, text, word, named) => {
  if (!(await findProgram(program, process.env))) return;
  const report = await killedIn(command, { file, text, word });
  expect(report?.running).toEqual([named]);
  const result = { exitCode: null, signal: 'SIGKILL', timedOut: true, durationMs: 1, said: '', notFound: [] };
  expect(whatFailed({ command, setup: false, result }, { limitMs: 60_000, report })).toContain(
    `\`${command}\` did not end within 1m; still running: "${named}"`,
  );
});
