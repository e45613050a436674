import { object, text, type Json } from '../domain/values/json.ts';
import type { Child } from './child.ts';

/** The answer to a request was an error. */
export class RpcError extends Error {
  readonly data: Json;

  constructor(error: Json) {
    super(text(error['message']) || 'an error without a message');
    this.data = object(error['data']) ?? {};
  }
}

/** JSON-RPC as Codex speaks it: without the field `jsonrpc`, one message a line, requests both ways. */
export class Rpc {
  readonly #child: Child;
  readonly #waiting = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  #id = 0;

  constructor(
    child: Child,
    take: { notification(method: string, params: Json): void; request(method: string, params: Json): Json },
  ) {
    this.#child = child;
    void child.listen((message) => {
      const { id } = message;
      const method = text(message['method']);
      const params = object(message['params']) ?? {};
      if (!method) return this.#answered(message);
      if (id === undefined) return take.notification(method, params);
      child.send({ id, ...take.request(method, params) });
    });
  }

  async ask(method: string, params: Json, limitMs?: number): Promise<Json> {
    const id = (this.#id += 1);
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<Json>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (limitMs === undefined) return;
      timer = setTimeout(
        () => reject(new Error(`the agent did not answer ${method} in ${limitMs / 1_000} s`)),
        limitMs,
      );
    });
    this.#child.send({ id, method, params });
    return answer.finally(() => clearTimeout(timer));
  }

  tell(method: string): void {
    this.#child.send({ method });
  }

  #answered({ id, result, error }: Json): void {
    const waiter = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    const failed = object(error);
    if (failed) waiter?.reject(new RpcError(failed));
    else waiter?.resolve(object(result) ?? {});
  }
}
