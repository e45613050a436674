import { connect, type Socket } from 'node:net';
import { receiveLines } from './lines.ts';

export type Response = { id: number; value: unknown } | { id: number; error: string };

type Asked<Operations> = { [Op in keyof Operations]: { asks: unknown; answers: unknown } };

/** One connection to a process of ours: requests by id, one JSON text a line, answers in any order. */
export class Link<Operations extends Asked<Operations>> {
  readonly #socket: Socket;
  readonly #lost: () => Error;
  readonly #pending = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #id = 0;
  broken = false;

  /** `lost` makes the error of requests whose answer does not come any more. */
  constructor(socket: Socket, lost: () => Error) {
    this.#socket = socket;
    this.#lost = lost;
    receiveLines(socket, (line) => this.#settle(JSON.parse(line) as Response));
    socket.on('close', () => {
      this.broken = true;
      for (const { reject } of this.#pending.values()) reject(lost());
      this.#pending.clear();
    });
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener);
  }

  ask<Op extends keyof Operations & string>(op: Op, args: Operations[Op]['asks']): Promise<Operations[Op]['answers']> {
    if (this.broken) return Promise.reject(this.#lost());
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.write(`${JSON.stringify({ id, op, args })}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #settle(response: Response): void {
    const waiter = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if ('error' in response) waiter?.reject(new Error(response.error));
    else waiter?.resolve(response.value as never);
  }
}

export function dial(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket)).on('error', () => resolve(undefined));
  });
}
