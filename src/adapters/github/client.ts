import { Octokit } from '@octokit/core';
import type { Failure } from '../../domain/agent/failure.ts';
import { repositoryOf, type GitHubConfig, type GitHubRepository } from '../../domain/repository/github.ts';

/** A server that is busy or away is asked again: `laterMs` from now. */
export type Answer<T> =
  | { ok: true; value: T }
  | { ok: false; failure: Failure }
  | { ok: false; laterMs: number; why: string };

const TIMEOUT_MS = 20_000;
const PAUSE_MS = 30_000;
const LIMITED_MS = 60_000;
const LONGEST_MS = 3_600_000;
const SAID_MAX = 300;

const quiet = () => {};

/** One repository of GitHub's, with the worker's token, which nothing that comes back shows. */
export class GitHub {
  readonly #octokit: Octokit;
  readonly #variable: string;
  readonly #signal: AbortSignal | undefined;
  readonly at: GitHubRepository;

  private constructor(
    octokit: Octokit,
    of: { variable: string; at: GitHubRepository; signal: AbortSignal | undefined },
  ) {
    this.#octokit = octokit;
    this.#variable = of.variable;
    this.#signal = of.signal;
    this.at = of.at;
  }

  /** Where the repository is none of the configured server's, or there is no token, the failure of the task. */
  static open(open: {
    config: GitHubConfig;
    url: string;
    env: NodeJS.ProcessEnv;
    worker: string;
    /** What is under way is then given up, and throws. */
    signal?: AbortSignal;
  }): { ok: true; github: GitHub } | { ok: false; failure: Failure } {
    const { config, url, env, worker, signal } = open;
    const at = repositoryOf(config, url);
    if ('wrong' in at)
      return { ok: false, failure: { reason: 'repo-unavailable', message: `worker ${worker}: ${at.wrong}` } };
    const auth = env[config.tokenEnv];
    if (!auth) {
      const message = `worker ${worker} has no token for ${at.owner}/${at.repo}: its environment has no ${config.tokenEnv} (github.tokenEnv)`;
      return { ok: false, failure: { reason: 'auth', message } };
    }
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const octokit = new Octokit({ auth, baseUrl: config.api.replace(/\/+$/, ''), userAgent: 'infinity-fleet', log });
    octokit.hook.before('request', (options) => {
      const limits = [AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])];
      options.request = { ...options.request, signal: AbortSignal.any(limits) };
    });
    return { ok: true, github: new GitHub(octokit, { variable: config.tokenEnv, at, signal }) };
  }

  /** Does some requests, of which what the server refused becomes a value. */
  async ask<T>(work: (request: Octokit['request'], at: GitHubRepository) => Promise<T>): Promise<Answer<T>> {
    try {
      return { ok: true, value: await work(this.#octokit.request, this.at) };
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (!isRefusal(error)) throw error;
      return this.#refused(error);
    }
  }

  #refused({ status, message, response }: Refusal): Exclude<Answer<never>, { ok: true }> {
    const said = oneLine(message).slice(0, SAID_MAX);
    const headers = response?.headers ?? {};
    const name = `${this.at.owner}/${this.at.repo}`;
    const limited = /rate limit|abuse detection/i.test(message) || headers['x-ratelimit-remaining'] === '0';
    if (status === 429 || (status === 403 && (limited || headers['retry-after'])))
      return { ok: false, laterMs: pauseOf(headers), why: `GitHub limits requests: ${said}` };
    // Also what did not come to an answer at all.
    if (status >= 500) return { ok: false, laterMs: PAUSE_MS, why: `GitHub does not answer for ${name}: ${said}` };
    if (status === 401 || status === 403) {
      const sentence = `GitHub refused the token in ${this.#variable} for ${name} (${status}): ${said}`;
      return { ok: false, failure: { reason: 'auth', message: sentence } };
    }
    const sentence =
      status === 404
        ? `GitHub has no ${name}, or the token in ${this.#variable} may not see it`
        : `GitHub refused it for ${name} (${status}): ${said}`;
    return { ok: false, failure: { reason: 'repo-unavailable', message: sentence } };
  }
}

/** What octokit throws for an answer other than 2xx; a server that cannot be reached counts as 500. */
interface Refusal extends Error {
  status: number;
  response?: { headers: Record<string, string | undefined> };
}
export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && 'status' in error && typeof error.status === 'number';

function pauseOf(headers: Record<string, string | undefined>): number {
  const after = Number(headers['retry-after']) * 1_000;
  const reset = Number(headers['x-ratelimit-reset']) * 1_000 - Date.now();
  const ms = after > 0 ? after : reset > 0 ? reset : LIMITED_MS;
  return Math.min(LONGEST_MS, Math.max(1_000, ms));
}

const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();
