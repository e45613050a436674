/** How the begin of a connection looks: of TLS, with the name of the server that it asks for; too short to tell; or anything else. */
export type Begin = { is: 'tls'; name?: string } | { is: 'short' } | { is: 'other' };

const RECORD_HEAD = 5;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** Reads a ClientHello, also one that lies in several records. Never throws. */
export function readBegin(bytes: Buffer): Begin {
  if (bytes.length === 0) return { is: 'short' };
  const hello: Buffer[] = [];
  for (let at = 0; ;) {
    if (at < bytes.length && bytes[at] !== HANDSHAKE) return { is: 'other' };
    if (bytes.length < at + RECORD_HEAD) return { is: 'short' };
    const length = bytes.readUInt16BE(at + 3);
    hello.push(bytes.subarray(at + RECORD_HEAD, at + RECORD_HEAD + length));
    at += RECORD_HEAD + length;
    const message = Buffer.concat(hello);
    if (message.length > 0 && message[0] !== CLIENT_HELLO) return { is: 'other' };
    if (message.length >= 4 && message.length >= 4 + message.readUIntBE(1, 3)) return readHello(message);
    if (at > bytes.length) return { is: 'short' };
  }
}

function readHello(message: Buffer): Begin {
  try {
    const reader = new Reader(message.subarray(4, 4 + message.readUIntBE(1, 3)));
    // Version and random; session, cipher suites, compression.
    reader.take(34);
    reader.take(reader.number(1));
    reader.take(reader.number(2));
    reader.take(reader.number(1));
    const extensions = new Reader(reader.take(reader.number(2)));
    const names: string[] = [];
    while (extensions.left > 0) {
      const type = extensions.number(2);
      const body = extensions.take(extensions.number(2));
      if (type === SERVER_NAME) names.push(nameIn(body));
    }
    if (names.length > 1) return { is: 'other' };
    return names[0] === undefined ? { is: 'tls' } : { is: 'tls', name: names[0] };
  } catch {
    return { is: 'other' };
  }
}

/** @throws where there is not exactly one */
function nameIn(body: Buffer): string {
  const list = new Reader(body).whole(2);
  const reader = new Reader(list);
  if (reader.number(1) !== HOST_NAME) throw new Error('a name of another kind');
  const name = reader.take(reader.number(2)).toString('latin1');
  if (reader.left > 0) throw new Error('two names');
  return name;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  take(length: number): Buffer {
    if (length > this.left) throw new Error('cut off');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** What its length says, and nothing behind it. */
  whole(bytes: number): Buffer {
    const content = this.take(this.number(bytes));
    if (this.left > 0) throw new Error('more than its length');
    return content;
  }
}
