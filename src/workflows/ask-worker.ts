import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { FilePiece, Question } from '../domain/question.ts';

/** Puts one question to one worker, on that worker's own queue: how a client on any machine reads a log there. */
export async function askWorker({
  hostQueue,
  question,
}: {
  hostQueue: string;
  question: Question;
}): Promise<FilePiece> {
  const { answer } = proxyActivities<Activities>({
    taskQueue: hostQueue,
    summary: question.ask,
    scheduleToStartTimeout: '5s',
    startToCloseTimeout: '30s',
    retry: { maximumAttempts: 1 },
  });
  return answer(question);
}
