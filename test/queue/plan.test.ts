import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listGraph } from '../../src/client/read/graph.ts';
import type { FleetConnection } from '../../src/client/connection.ts';
import { loadConfig } from '../../src/config.ts';
import { agent, TestFleet } from '../helpers/fleet.ts';
import { until } from '../helpers/until.ts';

/** A spec becomes tasks that wait for each other, on a real server with a real worker. */

let fleet: TestFleet;
let repo: string;

beforeAll(async () => {
  fleet = await TestFleet.start();
  repo = await fleet.repo('shop');
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

/** Makes a file of its own. */
const make = 'cat > /dev/null; echo made > "made-$FLEET_RUN"; git add -A; git commit -qm Make';
const MAKER = { command: ['sh', '-c', make], protocol: 'none' as const };

const SPEC = `---
name: shop
---
# Shop

## Phase 1: Ground

- [x] T001 Decide
- [ ] T002 Lay the ground

## Phase 2: Walls

- [ ] T003 [P] North wall
- [ ] T004 [P] South wall
- [ ] T005 Roof
`;

const file = async (name: string, text: string): Promise<string> => {
  await mkdir(`${fleet.root}/${name}`.replace(/\/[^/]*$/, ''), { recursive: true });
  await writeFile(`${fleet.root}/${name}`, text);
  return `${fleet.root}/${name}`;
};

test('a spec is shown, put into the queue once, drawn, and done in its order', async () => {
  const spec = await file('shop-spec.md', SPEC);
  const shown = await fleet.cli(['plan', spec], { cwd: repo });
  expect(shown.stdout.split('\n')).toEqual([
    'Shop',
    '  Phase 1: Ground',
    '    shop-t002  Lay the ground',
    '  Phase 2: Walls',
    '    shop-t003  North wall  (after shop-t002)',
    '    shop-t004  South wall  (after shop-t002)',
    '    shop-t005  Roof  (after shop-t003, shop-t004)',
  ]);
  expect(shown).toMatchObject({ code: 2, stderr: `nothing was put into the queue: fleet plan ${spec} --yes does` });
  expect(await fleet.fleet.list({ all: true })).toEqual([]);

  await using _ = await fleet.worker('shopper', {
    coders: { mine: MAKER },
    worker: { coder: 'mine', slots: 2 },
  });
  const made = await fleet.cli(['plan', spec, '--yes', '--json'], { cwd: repo });
  expect(made.code).toBe(0);
  expect((JSON.parse(made.stdout) as { id: string }[]).map(({ id }) => id)).toEqual([
    ...['shop-t002', 'shop-t003', 'shop-t004', 'shop-t005'],
  ]);
  const again = await fleet.cli(['plan', spec, '--yes'], { cwd: repo });
  expect(again).toMatchObject({ code: 0, stderr: 'all of them are in the queue already' });

  await fleet.settled('shop-t005');
  const reports = new Map((await fleet.fleet.list({ all: true })).map((report) => [report.id, report]));
  expect([...reports.values()].map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
  const began = (id: string) => reports.get(id)!.runs[0]!.startedAt;
  expect(began('shop-t003') > reports.get('shop-t002')!.endedAt!).toBe(true);
  expect(began('shop-t005') > reports.get('shop-t003')!.endedAt!).toBe(true);
  expect(began('shop-t005') > reports.get('shop-t004')!.endedAt!).toBe(true);

  const drawn = await until(async () => {
    const { stdout } = await fleet.cli(['graph', '--all']);
    return stdout.split('\n').every((line) => line.includes('done')) && stdout;
  });
  const [first, ...rest] = drawn.split('\n');
  expect(first).toBe('shop-t002  done');
  expect(rest.map((line) => line.replace(/^[│ ]*(├─|└─|↓) /, '')).toSorted()).toEqual([
    ...['shop-t003  done', 'shop-t004  done', 'shop-t005  done  also after shop-t003'],
  ]);
  const { stdout: mermaid } = await fleet.cli(['graph', '--all', '--mermaid']);
  expect(mermaid).toContain('t0["shop-t002<br/>done"]:::is-done');
  expect(mermaid.split('\n').filter((line) => line.includes('-->'))).toHaveLength(4);
});

test('a folder with one file a task', async () => {
  await file('parts/schema.md', '---\nid: schema\ntype: message\n---\n# Write the schema\n\nIn db/.\n');
  await file('parts/api.md', '---\nid: api\ntype: message\ndependsOn: [schema]\n---\n# Write the API\n');
  await file('parts/README.md', '# About\n');
  const shown = await fleet.cli(['plan', 'parts', '--json']);
  expect(shown.code).toBe(2);
  expect(JSON.parse(shown.stdout)).toMatchObject([
    {
      id: 'parts-schema',
      dependsOn: [],
      doneBy: ['tools', 'person'],
      fields: { objective: 'Write the schema\n\nIn db/.', type: 'message' },
    },
    { id: 'parts-api', dependsOn: ['parts-schema'], at: 'parts/api.md:4' },
  ]);
  expect(shown.stderr).toContain('parts/README.md is left out: has neither front matter nor checkboxes');
});

test('an agent writes the spec', async () => {
  const idea = await file('idea.md', '# Idea\n\nA shop.\n');
  await using _ = await fleet.worker('planner', {
    coders: { planner: agent('plan.sh') },
    worker: { coder: 'planner' },
  });
  const { stdout: id } = await fleet.cli(['plan', idea, '--agent', 'planner'], { cwd: repo });
  expect((await fleet.settled(id)).state).toBe('done');
  const shown = await fleet.cli(['plan', '--from-task', id, '--name', 'idea'], { cwd: repo });
  expect(shown.stdout.split('\n')).toEqual(['idea-t001  Add the shelf', 'idea-t002  Add the till  (after idea-t001)']);
});

test('1,000 tasks are drawn from one list', async () => {
  const lines = Array.from({ length: 1_000 }, (_, n) => `- [ ] N${n + 1} [P] item${n % 10 ? ` (after: N${n})` : ''}`);
  const spec = await file('many.md', `---\ntype: message\nqueue: many\n---\n${lines.join('\n')}\n`);
  const env = { FLEET_QUEUES: 'many' };
  expect((await fleet.cli(['plan', spec, '--yes', '--json'], { env })).code).toBe(0);
  await until(async () => (await fleet.fleet.graph()).filter(({ id }) => id.startsWith('many-')).length === 1_000);
  // A client that can list, and can ask for no single task.
  const lists: object[] = [];
  const { options, workflowService } = fleet.client;
  const list = (asked: object) => (lists.push(asked), workflowService.listWorkflowExecutions(asked));
  const client = { options, workflowService: { listWorkflowExecutions: list } };
  const wire = { client, config: loadConfig({ home: fleet.root, env: {} }) };
  const nodes = await listGraph(wire as unknown as FleetConnection);
  expect(nodes.find(({ id }) => id === 'many-n2')!.dependsOn).toEqual(['many-n1']);
  // One for each thousand.
  expect(lists.length).toBeLessThanOrEqual(2);
});
