import { expect, test } from '@jest/globals';
import { commandsIn } from '../../../src/receipts/claims/shell-commands.ts';
import {
  IRREVERSIBLE_COMMANDS,
  irreversiblePattern,
  PROTECTED_BRANCHES,
} from '../../../src/domain/people/irreversible.ts';
import { irreversibleOf } from '../../../src/activities/verify/irreversible.ts';

const nothing = { paths: [], labels: [], deliver: [], branches: [], commands: [], timeout: '1d' };
const merge = { labels: [], deliver: 'merge' as const };
const ran = (text: string) => ({ commands: commandsIn(text), own: ['/runs/1/work'] });
const task = { labels: [], deliver: 'branch' as const };

test.each([
  ['nothing is configured', nothing, { task, paths: ['migrations/1.sql'] }, undefined],
  [
    'a path',
    { ...nothing, paths: ['migrations'] },
    { task, paths: ['a.txt', 'migrations/1.sql'] },
    'it changes migrations/1.sql (irreversible.paths: migrations)',
  ],
  [
    'a path that is the same where names fold',
    { ...nothing, paths: ['migrations/**'] },
    { task, paths: ['Migrations/1.sql'] },
    'it changes Migrations/1.sql (irreversible.paths: migrations/**)',
  ],
  [
    'many paths',
    { ...nothing, paths: ['*.sql'] },
    { task, paths: ['1.sql', '2.sql', '3.sql', '4.sql', '5.sql'] },
    'it changes 1.sql, 2.sql, 3.sql and 2 more (irreversible.paths: *.sql)',
  ],
  [
    'a path of its base that would come along',
    { ...nothing, paths: ['migrations'] },
    { task, paths: ['a.txt'], brought: { paths: ['b.txt', 'migrations/1.sql'] } },
    'with its base it would bring along migrations/1.sql (irreversible.paths: migrations)',
  ],
  [
    'a base of which that is not known',
    { ...nothing, paths: ['migrations'] },
    { task, paths: ['a.txt'], brought: { paths: [], unread: 'the remote is away' } },
    'what it would bring along with its base is unknown: the remote is away',
  ],
  ['another path', { ...nothing, paths: ['migrations'] }, { task, paths: ['a.txt'] }, undefined],
  [
    'a label, also where nothing was changed',
    { ...nothing, labels: ['production'] },
    { task: { ...task, labels: ['x', 'production'] }, paths: [] },
    'it has the label production (irreversible.labels)',
  ],
  [
    'a way of delivery',
    { ...nothing, deliver: ['merge' as const] },
    { task: { ...task, deliver: 'merge' as const }, paths: ['a.txt'] },
    'it would be delivered by merge (irreversible.deliver)',
  ],
  [
    'a way of delivery of nothing',
    { ...nothing, deliver: ['merge' as const] },
    { task: { ...task, deliver: 'merge' as const }, paths: [] },
    undefined,
  ],
  [
    'a merge into a protected branch',
    { ...nothing, branches: PROTECTED_BRANCHES },
    { task: { ...merge, into: 'release/2.1' }, paths: ['a.txt'] },
    'it would be merged into release/2.1 (irreversible.branches: release/*)',
  ],
  [
    'a merge into the default branch',
    { ...nothing, branches: PROTECTED_BRANCHES },
    { task: merge, paths: ['a.txt'] },
    'it would be merged into the default branch (irreversible.branches)',
  ],
  [
    'a merge into another',
    { ...nothing, branches: PROTECTED_BRANCHES },
    { task: { ...merge, into: 'try' }, paths: ['a.txt'] },
    undefined,
  ],
  [
    'a command that its agent ran',
    { ...nothing, commands: IRREVERSIBLE_COMMANDS },
    { task, paths: ['a.txt'], ran: ran('cd web && npm --workspace shop publish --access public | tail -1') },
    'its agent ran npm --workspace shop publish --access public (irreversible.commands: npm publish)',
  ],
])('%s', (_name, irreversible, given, said) => {
  expect(irreversibleOf({ irreversible }, given)).toBe(said);
});

test.each([
  ['git push origin HEAD:main', 'git push'],
  ['bash -c "git -C /w push -f"', 'git push'],
  ['rm -rf /srv/data', 'rm <outside>'],
  ['rm -rf /runs/1/work/../../../srv', 'rm <outside>'],
  ['terraform -chdir=prod apply -auto-approve', 'terraform apply'],
  ['rm -rf node_modules /tmp/x /runs/1/work/tree/dist ~/.cache', undefined],
  ['git commit -m "push it" && git log', undefined],
  ['echo npm publish', undefined],
  ['npm run publish-docs', undefined],
])('%s', (text, rule) => {
  const given = { patterns: IRREVERSIBLE_COMMANDS, own: ['/runs/1/work'] };
  const found = commandsIn(text).flatMap((words) => irreversiblePattern(words, given) ?? []);
  expect(found[0]).toBe(rule);
});
