/** Shorter ones stand in any text. */
const LEAST = 8;
/** A longer one is a file's content, and is looked for by its begin. */
const MOST = 4_096;
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|COOKIE|_PAT$/i;
const PLAIN_NAME = /(?:^|_)(?:URL|MODEL|HOST|REGION|ENDPOINT)$/i;
/** One word, a number, or a path: it may stand in any text, unless its name says that it is a secret. */
const PLAIN_VALUE = /^(?:[a-z]+|[\d.:,-]+|~?\/[^\s]*|\.{1,2}\/[^\s]*)$/i;

/** Values of variables that must not be written anywhere, by the names of those. */
export type Secrets = Readonly<Record<string, string>>;

/** The values of an environment that have to be kept from logs: not a mode, an address or a path that a variable may hold as well. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    value !== undefined && isSecret(name, value) ? [[name, value]] : [],
  );
  return Object.fromEntries(found);
}

/** The same of an environment that is not known by its names: only what one says of itself. */
export const namedSecretsIn = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  secretsIn(Object.fromEntries(Object.entries(env).filter(([name]) => SECRET_NAME.test(name))));

function isSecret(name: string, value: string): boolean {
  if (value.trim().length < LEAST) return false;
  if (PLAIN_NAME.test(name) || /^\w+:\/\/\S*$/.test(value)) return /:\/\/[^/\s]*:[^/\s]*@/.test(value);
  return SECRET_NAME.test(name) || !PLAIN_VALUE.test(value);
}

/** What stands in place of a secret, of the same length, so that offsets stay: `[NPM_TOKEN]****`. */
export const maskOf = (name: string, length: number): string => `[${name}]`.padEnd(length, '*').slice(0, length);

interface Form {
  name: string;
  /** As it may stand in a text. */
  text: string;
}

/** Finds secrets in texts: as they are, and as JSON, URLs, base64 (wherever it begins in what is encoded) and hex have them. */
export class Redaction {
  readonly forms: readonly Form[];

  constructor(secrets: Secrets) {
    const forms = Object.entries(secrets).flatMap(([name, value]) => formsOf(value).map((text) => ({ name, text })));
    // What holds another one goes first.
    this.forms = forms.toSorted((a, b) => b.text.length - a.text.length);
  }

  holdsIn(text: string): string | undefined {
    return this.forms.find((form) => text.includes(form.text))?.name;
  }

  text(text: string): string {
    let left = text;
    for (const form of this.forms)
      if (left.includes(form.text)) left = left.replaceAll(form.text, () => maskOf(form.name, form.text.length));
    return left;
  }

  /** The same of all texts in a value of JSON; what holds none is the value itself. */
  deep<T>(value: T): T {
    if (this.forms.length === 0) return value;
    return this.#deep(value) as T;
  }

  #deep(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => this.#deep(one));
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [this.text(key), this.#deep(one)]));
  }
}

export const NO_REDACTION = new Redaction({});

function formsOf(secret: string): string[] {
  const value = secret.trim().slice(0, MOST);
  const json = JSON.stringify(value).slice(1, -1);
  const all = [
    ...[value, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(value), hexOf(value)],
    ...[0, 1, 2].flatMap((before) => base64Of(value, before)),
  ];
  return [...new Set(all.filter((text) => text.length >= LEAST))];
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const hexOf = (text: string): string => [...bytesOf(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** What of it does not depend on its neighbours, with so many bytes before it; in both alphabets. */
function base64Of(text: string, before: number): string[] {
  const bytes = bytesOf(text);
  const shifted = new Uint8Array(before + bytes.length);
  shifted.set(bytes, before);
  const whole = encode64(shifted).replace(/=+$/, '');
  const end = Math.floor(((before + bytes.length) * 8) / 6);
  const sure = whole.slice(before === 0 ? 0 : before + 1, end);
  return [sure, sure.replaceAll('+', '-').replaceAll('/', '_')];
}

const encode64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
