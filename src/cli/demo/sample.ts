import { mkdir, writeFile } from 'node:fs/promises';
import { execa } from 'execa';

const FILES: Record<string, string> = {
  'package.json': `${JSON.stringify({ name: 'demo-shop', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/discount.js': `/** The price with a discount of so many percent. */
export function discount(price, percent) {
  return price - percent;
}
`,
  'test/discount.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discount } from '../src/discount.js';

test('ten percent off', () => {
  assert.equal(discount(200, 10), 180);
});

test('no discount', () => {
  assert.equal(discount(80, 0), 80);
});
`,
  '.fleet.yaml': `# What the fleet holds every task of this repository to.
verify: [node --test]
protect: [test/**]
`,
};

/** A small repository with a bug and a test that shows it. Gives the base commit. */
export async function makeSample(dir: string): Promise<void> {
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(new URL(`file://${dir}/${path}`).pathname.replace(/\/[^/]*$/, ''), { recursive: true });
    await writeFile(`${dir}/${path}`, text);
  }
  const git = execa({ cwd: dir, env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } });
  await git`git init -q -b main`;
  await git`git add .`;
  await git`git -c user.name=Demo -c user.email=demo@localhost commit -q -m ${'A shop with a wrong discount'}`;
}
