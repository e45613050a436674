import { writeFile } from 'node:fs/promises';
import { TestFleet } from '../test/helpers/fleet.ts';
import { commandFigures } from './commands.ts';
import type { Row } from './measure.ts';
import { proxyFigures } from './proxy.ts';
import { taskFigures } from './tasks.ts';

/**
 * What the fleet costs, against bare floors in the same run. Figures depend on the machine; the ratios and CPU times are what to
 * compare. `npm run bench` prints a table and writes bench/results.json.
 */
const rows: Row[] = [];
for (const figures of [taskFigures, commandFigures]) {
  await using fleet = await TestFleet.start();
  for await (const row of figures(fleet)) add(row);
}
for (const row of await proxyFigures()) add(row);
await writeFile(
  new URL('results.json', import.meta.url),
  `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`,
);

function add(row: Row): void {
  rows.push(row);
  const { what, parts, value, unit, floor, target } = row;
  const beside = floor === undefined ? '' : `floor ${round(floor)}, ratio ${round(value / floor)}`;
  const reach = [target ? `to reach ${target}` : '', parts ? `(${parts})` : ''].filter(Boolean).join('  ');
  console.log([what.padEnd(64), `${round(value)} ${unit}`.padStart(14), beside.padStart(28), reach].join('  '));
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}
