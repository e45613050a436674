import type { TaskAlert as Alert } from '../../src/activities/services/send-alert.ts';
import type { World } from './world.ts';

/** To what waits for a yes, or an answer. */
const WORDS = { approve: 6, reject: 1, cancel: 0.3 } as const;
const ANSWERS = { retry: 5, accept: 3, giveUp: 2, cancel: 1 } as const;

/** What people do about tasks in one schedule: answer alerts, sooner or later, or cancel at any time. */
export class People {
  readonly cancelled = new Map<string, number>();
  readonly #world: World;
  readonly #patience = new Map<string, number>();
  readonly #cancelsAtPoints: number;

  constructor(world: World) {
    this.#world = world;
    this.#cancelsAtPoints = world.random.chance(0.15) ? 0.1 : 0;
  }

  /** A task was put into the queue. */
  gave(taskId: string): void {
    const { random, clock } = this.#world;
    this.#patience.set(taskId, random.between(0, 4));
    if (random.chance(0.1)) clock.after(random.spread(1, 900_000), () => this.#cancel(taskId));
    if (random.chance(0.1)) clock.after(random.spread(1, 900_000), () => this.#say(taskId));
  }

  alerted({ id, question, approval }: Alert): void {
    if (question) return this.#answer(id, question.id);
    if (approval) return this.#approve(id);
    const left = this.#patience.get(id) ?? 0;
    this.#patience.set(id, left - 1);
    const { random, clock } = this.#world;
    if (left > 0) clock.after(random.spread(20, 3_600_000), () => this.#say(id));
  }

  reached(taskId: string): void {
    if (this.#world.random.chance(this.#cancelsAtPoints)) this.#cancel(taskId);
  }

  #say(taskId: string): void {
    const { random, server, checker } = this.#world;
    const answer = random.weighted(ANSWERS);
    if (answer === 'cancel') return this.#cancel(taskId);
    checker.say(`person: ${answer} ${taskId}`);
    server.workflows.get(taskId)?.update(answer, { why: 'because' }, (accepted) => {
      checker.say(`person: ${answer} ${taskId} was ${accepted ? 'heard' : 'refused'}`);
      if (accepted && answer === 'accept') this.#world.accepted.add(taskId);
      if (accepted && answer === 'retry') checker.forgave(taskId);
    });
  }

  /** Somebody always does, some time. Two may, and one may be late. */
  #answer(taskId: string, question: string): void {
    const { random, clock, server, checker } = this.#world;
    const times = random.between(1, 2);
    for (let n = 1; n <= times; n += 1)
      clock.after(random.spread(20, 7_200_000), () => {
        server.workflows.get(taskId)?.update('answer', { question, answer: `a${n}`, by: `p${n}` }, (accepted) => {
          checker.say(`person: answer ${question} of ${taskId} was ${accepted ? 'heard' : 'refused'}`);
        });
      });
  }

  #approve(taskId: string): void {
    const { random, clock, server, checker } = this.#world;
    const word = random.weighted(WORDS);
    clock.after(random.spread(20, 7_200_000), () => {
      if (word === 'cancel') return this.#cancel(taskId);
      server.workflows.get(taskId)?.update(word, { by: 'p', why: 'because' }, (accepted) => {
        checker.say(`person: ${word} ${taskId} was ${accepted ? 'heard' : 'refused'}`);
      });
      return undefined;
    });
  }

  #cancel(taskId: string): void {
    const workflow = this.#world.server.workflows.get(taskId);
    if (!workflow || workflow.closed || this.cancelled.has(taskId)) return;
    this.#world.checker.say(`person: cancel ${taskId}`);
    this.cancelled.set(taskId, this.#world.clock.now);
    workflow.cancel();
  }
}
