import './async-local-storage.ts';

const { simulate } = await import('./world.ts');

/** `npm run simulate -- <first seed> <last seed>`: which promises broke, with the seeds that show it; of one seed, all that happened. */
const [first = 1, last = first] = process.argv.slice(2).map(Number);
const seedsOf = new Map<string, number[]>();
const reached = new Map<string, number>();
const began = performance.now();
for (let seed = first; seed <= last; seed++) {
  const schedule = await simulate(seed);
  if (first === last) console.log(schedule.trace.join('\n'));
  for (const [place, times] of Object.entries(schedule.reached)) reached.set(place, (reached.get(place) ?? 0) + times);
  const [violation] = schedule.violations;
  if (!violation) continue;
  const kind = violation.replace(/\b(w|task-|\d+-)?[0-9a-f.]+\b/g, '#').slice(0, 120);
  seedsOf.set(kind, [...(seedsOf.get(kind) ?? []), seed]);
}
for (const [kind, seeds] of seedsOf)
  console.log(`${seeds.length} times: ${kind}; seeds ${seeds.slice(0, 8).join(', ')}`);
console.log([...reached].map(([place, times]) => `${place} ${times}`).join(', '));
console.log(`${last - first + 1} schedules in ${Math.round((performance.now() - began) / 1_000)} s`);
process.exitCode = seedsOf.size > 0 ? 1 : 0;
