import { expect, test } from '@jest/globals';
import { irreversibleOf } from '../../src/activities/irreversible.ts';

const nothing = { paths: [], labels: [], deliver: [] };
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
])('%s', (_name, irreversible, given, said) => {
  expect(irreversibleOf({ irreversible }, given)).toBe(said);
});
