import type { PersonsWord } from '../../domain/people/waiting.ts';
import { answerUpdate, approveUpdate, rejectUpdate } from '../../workflows/messages.ts';
import { sayTo } from './decide.ts';
import type { FleetConnection } from '../connection.ts';

/** Answers the agent of a task. @throws FleetError (2) where somebody was faster, or it asks something else */
export const answerTask = (
  wire: FleetConnection,
  id: string,
  said: { answer: string; by: string; question?: string },
): Promise<void> =>
  sayTo(wire, id, {
    ...{ update: answerUpdate, said },
    heard: ({ answers = [] }) =>
      answers.some(
        ({ answer, by, question }) =>
          answer === said.answer && by === said.by && (said.question === undefined || said.question === question),
      ),
  });

/** A person's yes or no. @throws FleetError (2) where somebody was faster, or nothing waits for one */
export const approveTask = (
  wire: FleetConnection,
  id: string,
  { approved, ...said }: { approved: boolean } & PersonsWord,
): Promise<void> =>
  sayTo(wire, id, {
    ...{ update: approved ? approveUpdate : rejectUpdate, said },
    heard: ({ approvals = [], approval }) => {
      const last = approvals.at(-1);
      return !approval && last?.approved === approved && last.by === said.by && last.why === said.why;
    },
  });
