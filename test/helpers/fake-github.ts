import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { git } from './git.ts';

export interface FakePull {
  number: number;
  title: string;
  body: string;
  draft: boolean;
  head: string;
  base: string;
  state: 'open' | 'closed';
  merged: boolean;
  mergeable: boolean | null;
  labels: string[];
  /** Where its branch was when it was closed. */
  sha?: string;
}
interface CheckRun {
  id: number;
  name: string;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | null;
  html_url: string;
  output: { title: string | null; summary: string | null; annotations_count: number };
}
interface Review {
  id: number;
  user: { login: string };
  author_association: 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'CONTRIBUTOR' | 'NONE';
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
  body: string;
  comments: { path: string; line: number | null; body: string }[];
}
/** What the next request that matches meets instead of its answer, or after it has acted. */
interface Fault {
  match: RegExp;
  status?: number;
  headers?: Record<string, string>;
  message?: string;
  /** It has its effect first; the connection is then cut. */
  lose?: boolean;
  times: number;
}

type Json = Record<string, unknown>;
type Handler = (given: { parts: string[]; query: URLSearchParams; body: Json }) => [status: number, body: unknown];

/** A server that answers as GitHub's API does, of one repository whose branches are those of a real one. */
export class FakeGitHub implements AsyncDisposable {
  readonly pulls: FakePull[] = [];
  readonly reviews = new Map<number, Review[]>();
  /** `POST /repos/acme/app/pulls`, as they came. */
  readonly requests: string[] = [];
  readonly token = `ghp_${'hush'.repeat(9)}`;
  readonly name = 'acme/app';
  readonly #checks = new Map<string, CheckRun[]>();
  readonly #faults: Fault[] = [];
  readonly #repo: string;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #ids = 100;

  private constructor(repo: string) {
    this.#repo = repo;
  }

  /** @param repo path of a bare repository */
  static async start(repo: string): Promise<FakeGitHub> {
    const fake = new FakeGitHub(repo);
    fake.#server.listen(0, '127.0.0.1');
    await once(fake.#server, 'listening');
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  fault(match: RegExp, fault: Omit<Fault, 'match' | 'times'>, times = 1): void {
    this.#faults.push({ match, times, ...fault });
  }

  /** Of a commit; the same name again replaces it. */
  check(sha: string, name: string, conclusion: string | null, summary: string | null = null): void {
    const runs = (this.#checks.get(sha) ?? []).filter((run) => run.name !== name);
    const status = conclusion === null ? 'in_progress' : 'completed';
    const output = { title: null, summary, annotations_count: 0 };
    const run = { id: ++this.#ids, name, status, conclusion, output, html_url: `${this.url}/runs/${name}` } as const;
    this.#checks.set(sha, [...runs, run]);
  }

  /** Of a collaborator, unless it says otherwise. */
  review(number: number, review: Pick<Review, 'state' | 'body'> & { by: string } & Partial<Review>): void {
    const { by, ...rest } = review;
    const all = this.reviews.get(number) ?? [];
    const more = { comments: [], author_association: 'COLLABORATOR' } as const;
    this.reviews.set(number, [...all, { ...more, comments: [], ...rest, id: ++this.#ids, user: { login: by } }]);
  }

  end(number: number, how: 'merged' | 'closed'): void {
    const pull = this.#pull(number);
    Object.assign(pull, { state: 'closed', merged: how === 'merged', sha: this.#tip(pull.head) });
  }

  #pull(number: number): FakePull {
    const pull = this.pulls.find((one) => one.number === number);
    if (!pull) throw new Error(`no pull ${number}`);
    return pull;
  }

  #tip(branch: string): string | undefined {
    try {
      return git(this.#repo, 'rev-parse', '--verify', '-q', `refs/heads/${branch}`);
    } catch {
      return undefined;
    }
  }

  #shown(pull: FakePull): Json {
    const { head, base, ...rest } = pull;
    const sha = pull.sha ?? this.#tip(head);
    return {
      ...rest,
      html_url: `${this.url}/${this.name}/pull/${pull.number}`,
      head: { ref: head, sha },
      base: { ref: base },
    };
  }

  readonly #routes: Record<string, Handler> = {
    'GET ': () => [200, { default_branch: 'main' }],
    'GET pulls': ({ query }) => {
      const head = query.get('head')?.split(':')[1];
      const state = query.get('state') ?? 'open';
      const found = this.pulls.filter((pull) => pull.head === head && (state === 'all' || pull.state === state));
      return [200, found.toReversed().map((pull) => this.#shown(pull))];
    },
    'POST pulls': ({ body }) => {
      const { title, body: text, draft, head, base } = body as unknown as FakePull;
      if (!this.#tip(head)) return [422, { message: 'Validation Failed: head is invalid' }];
      if (this.pulls.some((pull) => pull.head === head && pull.state === 'open'))
        return [422, { message: `Validation Failed: A pull request already exists for acme:${head}.` }];
      const kept = { state: 'open', merged: false, mergeable: true, labels: [] } as const;
      const pull = { ...{ number: this.pulls.length + 1, title, body: text, draft, head, base }, ...kept, labels: [] };
      this.pulls.push(pull);
      return [201, this.#shown(pull)];
    },
    'GET pulls *': ({ parts }) => [200, this.#shown(this.#pull(Number(parts[1])))],
    'PATCH pulls *': ({ parts, body }) => {
      Object.assign(this.#pull(Number(parts[1])), body);
      return [200, this.#shown(this.#pull(Number(parts[1])))];
    },
    'POST issues * labels': ({ parts, body }) => {
      const pull = this.#pull(Number(parts[1]));
      pull.labels = [...new Set([...pull.labels, ...(body['labels'] as string[])])];
      return [200, []];
    },
    'GET commits * check-runs': ({ parts }) => [200, { check_runs: this.#checks.get(parts[1]!) ?? [] }],
    'GET commits * status': () => [200, { statuses: [] }],
    'GET check-runs * annotations': () => [200, []],
    'GET git ref *': ({ parts }) => [200, { object: { sha: this.#tip(parts[2]!.replace('heads/', '')) } }],
    'GET pulls * reviews': ({ parts }) => [200, this.reviews.get(Number(parts[1])) ?? []],
    'GET pulls * reviews * comments': ({ parts }) => [
      200,
      this.reviews.get(Number(parts[1]))?.find(({ id }) => id === Number(parts[3]))?.comments ?? [],
    ],
  };

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', this.url);
    const line = `${request.method} ${pathname}`;
    this.requests.push(line);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (request.headers.authorization !== `token ${this.token}`) return void send(401, { message: 'Bad credentials' });
    const fault = this.#faults.find(({ match, times }) => times > 0 && match.test(line));
    if (fault) fault.times -= 1;
    if (fault && !fault.lose)
      return void send(fault.status ?? 500, { message: fault.message ?? 'oops' }, fault.headers);
    const [, , owner, repo, ...parts] = pathname.split('/').map(decodeURIComponent);
    const route = Object.entries(this.#routes).find(([key]) => fits(key, `${request.method} ${parts.join(' ')}`));
    if (`${owner}/${repo}` !== this.name || !route) return void send(404, { message: 'Not Found' });
    const text = Buffer.concat(chunks).toString();
    const [status, body] = route[1]({ parts, query, body: text ? (JSON.parse(text) as Json) : {} });
    if (fault?.lose) return void response.destroy();
    send(status, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

const fits = (key: string, line: string): boolean =>
  new RegExp(`^${key.trim().replaceAll('*', '[^ ]+')}$`).test(line.trim());
