import type { Readable } from 'node:stream';

/** What is carried to one place after the other is packed once: an agent's commits, into the result and then to its branch. */
export class RecentPacks {
  readonly #packs = new Map<string, Buffer>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** It is given once: whatever takes it is the last that does. */
  take(key: string): Buffer | undefined {
    const pack = this.#packs.get(key);
    this.#drop(key);
    return pack;
  }

  /** Listens to a pack that is on its way, of which `first` came before; `keep` is for when it has come whole. */
  listen(stream: Readable, first: Buffer): { keep(key: string): void } {
    let chunks: Buffer[] | undefined = [first];
    let bytes = first.length;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > this.#mostBytes / 4) chunks = undefined;
      else chunks?.push(chunk);
    });
    return { keep: (key) => chunks && this.#keep(key, Buffer.concat(chunks)) };
  }

  #keep(key: string, pack: Buffer): void {
    if (pack.length > this.#mostBytes / 4) return;
    this.#drop(key);
    this.#packs.set(key, pack);
    this.#bytes += pack.length;
    for (const oldest of this.#packs.keys()) if (this.#bytes > this.#mostBytes) this.#drop(oldest);
  }

  #drop(key: string): void {
    this.#bytes -= this.#packs.get(key)?.length ?? 0;
    this.#packs.delete(key);
  }
}
