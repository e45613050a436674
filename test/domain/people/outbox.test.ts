import { expect, test } from '@jest/globals';
import { readFollowUp, readQuestion } from '../../../src/domain/people/outbox.ts';

test('a question has its options, its default and its deadline', () => {
  const json = JSON.stringify({ question: 'Which?', options: ['a', 'b'], default: 'a', deadline: '2h' });
  const value = { text: 'Which?', options: ['a', 'b'], default: 'a', deadlineMs: 7_200_000 };
  expect(readQuestion('question.json', json)).toEqual({ ok: true, value });
  const plain = { text: 'Which port?', options: [], default: null, deadlineMs: null };
  expect(readQuestion('question.md', 'Which port?\n')).toEqual({ ok: true, value: plain });
});

test.each([
  ['question.json', '{', 'question.json is no valid JSON'],
  ['question.json', '[]', 'question.json: input must be an object'],
  ['question.json', '{}', 'question.json: question must be a string'],
  [
    'question.json',
    '{"question":"?","options":["a"],"default":"b"}',
    'question.json: default must be one of the options',
  ],
  [
    'question.json',
    '{"question":"?","deadline":"1h"}',
    'question.json: default is required with a deadline: it counts when that is over',
  ],
  ['question.json', '{"question":"?","urgent":true}', 'question.json: urgent is not a known field'],
  ['question.md', ' \n', 'question.md: question must not be empty'],
])('%s %s is refused', (file, text, message) => {
  expect(readQuestion(file, text)).toEqual({ ok: false, message });
});

test('a follow-up is an objective, or the fields of a task', () => {
  expect(readFollowUp('a.md', 'Write it down\n')).toEqual({
    ok: true,
    value: { task: { objective: 'Write it down\n' } },
  });
  const full = {
    to: 'codex',
    task: { objective: 'x', scope: { allow: ['docs'] } },
    context: 'c',
    callback: { task: 'a' },
  };
  expect(readFollowUp('a.json', JSON.stringify(full))).toEqual({ ok: true, value: full });
});

test.each([
  ['{"task":5}', 'a.json: task must be an objective or the fields of a task'],
  ['{}', 'a.json: task must be an objective or the fields of a task'],
  ['{"task":{"objective":"x","colour":"red"}}', 'a.json: task.colour is not a known field'],
  [
    '{"task":{"objective":"x","scope":{"allow":["/etc"]}}}',
    'a.json: task.scope.allow[0] must be relative to the repository, without ".."',
  ],
  ['{"task":{"objective":"x","parent":"other"}}', 'a.json: task.parent is not a known field'],
  ['{"task":{"objective":"x","proposed":true}}', 'a.json: task.proposed is not a known field'],
  ['{"task":"x","from":"me"}', 'a.json: from is not a known field'],
])('follow-up %s is refused', (text, message) => {
  expect(readFollowUp('a.json', text)).toEqual({ ok: false, message });
});
