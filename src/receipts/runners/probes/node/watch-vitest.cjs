/** `vitest` takes reporters on its command line; those of its configuration file give way, those named there stay. */
const { realpathSync } = require('node:fs');
const { join } = require('node:path');
const { hideProbes } = require('./report.cjs');

const [, program, ...args] = process.argv;
const OTHER = new Set(['bench', 'init', 'list']);

if (program !== undefined && /[\\/]vitest[\\/]vitest\.mjs$/.test(realpathSync(program)) && !OTHER.has(args[0])) {
  const named = args.some((arg) => /^--reporters?(=|$)/.test(arg));
  process.argv.splice(2, 0, ...(named ? [] : ['--reporter=default']), `--reporter=${join(__dirname, 'vitest.mjs')}`);
  hideProbes(process.env);
}
