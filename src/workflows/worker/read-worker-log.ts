import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { Answers, Question } from '../../domain/people/question.ts';

/** Puts one question to one worker, on that worker's own queue: how a client on any machine reads a log there. */
export async function askWorker({
  hostQueue,
  question,
}: {
  hostQueue: string;
  question: Question;
}): Promise<Answers[Question['ask']]> {
  const { readLog } = proxyActivities<Activities>({
    taskQueue: hostQueue,
    summary: question.ask,
    scheduleToStartTimeout: '5s',
    // A branch goes to a remote.
    startToCloseTimeout: question.ask === 'branch' ? '2m' : '30s',
    retry: { maximumAttempts: 1 },
  });
  return readLog(question);
}
