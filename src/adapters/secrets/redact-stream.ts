import { maskOf, Redaction, type Secrets } from '../../domain/secrets/redaction.ts';

interface Form {
  bytes: Buffer;
  mask: Buffer;
}

/**
 * Hands a stream on with masks in place of secrets, byte for byte as long, so that offsets stay. What may be the begin of a
 * secret waits for the next chunk, or for `end`. Bytes are handed on in buffers that are used again, as they came.
 */
export class RedactStream {
  readonly #forms: readonly Form[];
  readonly #longest: number;
  readonly #take: (bytes: Buffer) => void;
  #held: Buffer = Buffer.alloc(0);
  /** Secrets that were found. */
  count = 0;

  constructor(secrets: Secrets, take: (bytes: Buffer) => void) {
    this.#forms = new Redaction(secrets).forms.map(({ name, text }) => {
      const bytes = Buffer.from(text);
      return { bytes, mask: Buffer.from(maskOf(name, bytes.length)).subarray(0, bytes.length) };
    });
    this.#longest = Math.max(0, ...this.#forms.map(({ bytes }) => bytes.length));
    this.#take = take;
  }

  write(chunk: Buffer): void {
    if (this.#forms.length === 0) return this.#take(chunk);
    const bytes = this.#masked(this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk);
    const held = this.#beginning(bytes);
    // A copy: the chunk is used again.
    this.#held = Buffer.from(bytes.subarray(bytes.length - held));
    if (bytes.length > held) this.#take(bytes.subarray(0, bytes.length - held));
  }

  end(): void {
    if (this.#held.length > 0) this.#take(this.#held);
    this.#held = Buffer.alloc(0);
  }

  #masked(bytes: Buffer): Buffer {
    let own = bytes;
    for (const form of this.#forms) {
      for (let at = own.indexOf(form.bytes); at >= 0; at = own.indexOf(form.bytes, at + form.bytes.length)) {
        if (own === bytes) own = Buffer.from(bytes);
        form.mask.copy(own, at);
        this.count += 1;
      }
    }
    return own;
  }

  /** How many bytes at the end may be the begin of a secret. */
  #beginning(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.#longest + 1);
    const tail = bytes.subarray(from);
    const begins = ({ bytes: form }: Form): number => {
      const first = form[0]!;
      for (let at = tail.indexOf(first); at >= 0; at = tail.indexOf(first, at + 1)) {
        const length = tail.length - at;
        if (length < form.length && tail.compare(form, 0, length, at) === 0) return length;
      }
      return 0;
    };
    return Math.max(0, ...this.#forms.map(begins));
  }
}
