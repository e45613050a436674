/**
 * The cost of verifying an accepted result beside that of its tests alone: `tsx test/receipts/verify-cost.ts [tests]`, on what was
 * built. The first task of a base pays for the base's own trial; those behind it do not.
 */
import { readFileSync } from 'node:fs';
import { acceptance } from '../../src/receipts/kinds/acceptance.ts';
import { challenge } from '../../src/receipts/challenge/index.ts';
import type { Evidence } from '../../src/ports.ts';
import { TrialLab } from './trial-lab.ts';

const [count = '20'] = process.argv.slice(2);
const numbers = Array.from({ length: Number(count) }, (_, n) => n);
const PROJECTS = {
  python: {
    command: 'python3 -m pytest -q -p no:cacheprovider',
    tests: {
      'test_a.py': `import time\nfrom a import double\n${numbers.map((n) => `def test_${n}():\n    time.sleep(0.1)\n    assert double(${n}) == ${2 * n}\n`).join('')}`,
    },
    undone: { 'a.py': 'def double(n): pass\n' },
    done: { 'a.py': 'def double(n): return 2 * n\n' },
  },
  node: {
    command: 'node --test',
    tests: {
      'package.json': '{ "type": "module" }\n',
      'a.test.js': `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { double } from './a.js';\nimport { setTimeout as pause } from 'node:timers/promises';\n${numbers.map((n) => `test('t${n}', async () => { await pause(100); assert.equal(double(${n}), ${2 * n}); });\n`).join('')}`,
    },
    undone: { 'a.js': 'export const double = () => {};\n' },
    done: { 'a.js': 'export const double = (n) => 2 * n;\n' },
  },
  go: {
    command: 'go test ./...',
    tests: {
      'go.mod': 'module a\n\ngo 1.22\n',
      'a_test.go': `package a\n\nimport (\n\t"testing"\n\t"time"\n)\n${numbers.map((n) => `func Test${n}(t *testing.T) {\n\ttime.Sleep(100 * time.Millisecond)\n\tif Double(${n}) != ${2 * n} {\n\t\tt.Fatal("no")\n\t}\n}\n`).join('')}`,
    },
    undone: { 'a.go': 'package a\n\nfunc Double(n int) int { return -1 }\n' },
    done: { 'a.go': 'package a\n\nfunc Double(n int) int { return 2 * n }\n' },
  },
};

/** Seconds of the processor that ended children used. */
function cpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

async function timed(work: () => Promise<unknown>): Promise<{ wall: number; cpu: number }> {
  const [started, before] = [performance.now(), cpu()];
  await work();
  return { wall: (performance.now() - started) / 1_000, cpu: cpu() - before };
}

async function verify(evidence: Evidence): Promise<void> {
  for (const receipt of [acceptance, challenge]) {
    const finding = await receipt.collect(evidence);
    if (!finding?.ok) throw new Error(finding?.summary ?? 'no finding');
  }
}

for (const [language, { command, tests, undone, done }] of Object.entries(PROJECTS)) {
  const lab = new TrialLab();
  const base = lab.commit({ ...tests, ...undone });
  const commit = lab.commit(done);
  const given = { base, commit, policy: { verify: [command] } };
  const testsAlone = async () => {
    const space = await lab.evidence(given).space('control');
    lab.git('--work-tree', space.tree, 'checkout', '-q', commit, '--', '.');
    await space.run({ command, timeoutMs: 600_000 });
  };
  const cold = await timed(testsAlone);
  const first = await timed(() => verify(lab.evidence(given)));
  const alone = await timed(testsAlone);
  const later = await timed(() => verify(lab.evidence(given)));
  for (const [name, one, own] of [
    ['first', first, cold],
    ['later', later, alone],
  ] as const)
    console.log(
      `${language} ${name}: tests ${own.wall.toFixed(1)} s (CPU ${own.cpu.toFixed(1)}), verification ${one.wall.toFixed(1)} s (CPU ${one.cpu.toFixed(1)}), wall / tests ${(one.wall / own.wall).toFixed(2)}, over twice ${(one.wall - 2 * own.wall).toFixed(1)} s`,
    );
  lab.remove();
}
