import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '../../client.ts';
import { FleetError } from '../../domain/error.ts';
import type { Question } from '../../domain/people/outbox.ts';

const TRIES = 20;
const AGAIN_MS = 250;

/** A question of nobody's task is a task of its own, for the one who asks: people find it where they find all others. */
export async function askPeople(
  fleet: Fleet,
  asked: { as: string } & Question,
): Promise<{ id: string; question: string }> {
  const { as, question } = asked;
  const id = await fleet.enqueue({ type: 'message', objective: question, for: as, deliver: 'none' });
  // It can be held as soon as its workflow has begun.
  for (let left = TRIES; ; left -= 1) {
    try {
      await fleet.claimFor(id, { as });
      return await fleet.askFor(id, asked);
    } catch (error) {
      if (!(error instanceof FleetError) || left === 0) throw error;
      await pause(AGAIN_MS);
    }
  }
}
