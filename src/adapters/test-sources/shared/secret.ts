import { randomInt } from 'node:crypto';

/**
 * Which of the calls of a file's helper change their value: each has a number, and a key that the helper alone knows says of each
 * number what it means. So calls look the same whether they change something or not; whoever runs the helper learns it.
 */
export class Secret {
  /** Odd, below 2^31. */
  readonly key = 2 * randomInt(2 ** 29, 2 ** 30) + 1;

  /** A number of five digits for a call. */
  number(changes: boolean): number {
    for (;;) {
      const number = randomInt(10_000, 100_000);
      if (this.changes(number) === changes) return number;
    }
  }

  /** The highest of the 32 bits of their product. */
  changes(number: number): boolean {
    return Math.imul(number, this.key) < 0;
  }
}
