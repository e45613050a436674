import type { Octokit } from '@octokit/core';
import type { GitHubRepository } from '../../domain/repository/github.ts';
import type { FailedCheck, PullLook, RequestedChanges } from '../../domain/deliver/pull-request.ts';
import type { Answer, GitHub } from './client.ts';

type Request = Octokit['request'];
interface Place {
  request: Request;
  at: GitHubRepository;
}

const PER_PAGE = 100;
const MOST_PAGES = 10;
const FAILED_MAX = 10;
const TOLD_MAX = 5;
const COMMENTS_MAX = 30;
const SAID_MAX = 600;
const WORDS = new Set(['APPROVED', 'CHANGES_REQUESTED', 'DISMISSED']);
/** At a public repository anybody can ask for changes. */
const REVIEWERS = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);
const RED = new Set(['failure', 'timed_out', 'cancelled', 'startup_failure']);

/** How a pull request stands: its checks and statuses at its head, and the newest word of each reviewer. */
export function lookAtPull(github: GitHub, number: number): Promise<Answer<PullLook>> {
  return github.ask(async (request, at) => {
    const place = { request, at };
    const of = { ...at, pull_number: number };
    const { data: pull } = await request('GET /repos/{owner}/{repo}/pulls/{pull_number}', of);
    const head = pull.head.sha;
    const state = pull.merged ? 'merged' : pull.state === 'open' ? 'open' : 'closed';
    const nothing = { checks: 'none', failed: [], unfinished: 0, requested: [], conflict: null } as const;
    const known = { state, url: pull.html_url, head } as const;
    if (state !== 'open') return { ...nothing, ...known, failed: [], requested: [] };
    const conflict = pull.mergeable === false ? await tipOf(place, pull.base.ref) : null;
    return { ...known, conflict, ...(await checksOf(place, head)), requested: await changesOf(place, number) };
  });
}

async function tipOf({ request, at }: Place, branch: string): Promise<string> {
  const { data } = await request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...at, ref: `heads/${branch}` });
  return data.object.sha;
}

async function checksOf(place: Place, ref: string): Promise<Pick<PullLook, 'checks' | 'failed' | 'unfinished'>> {
  const { request, at } = place;
  const runs = await pages(async (page) => {
    const query = { ...at, ref, per_page: PER_PAGE, page, filter: 'latest' } as const;
    return (await request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', query)).data.check_runs;
  });
  const statuses = await pages(async (page) => {
    const query = { ...at, ref, per_page: PER_PAGE, page };
    return (await request('GET /repos/{owner}/{repo}/commits/{ref}/status', query)).data.statuses;
  });
  const redRuns = runs.filter(({ conclusion }) => RED.has(conclusion ?? ''));
  const redStatuses = statuses.filter(({ state }) => state === 'failure' || state === 'error');
  // One that asks for a person's action has not ended.
  const unfinished =
    runs.filter(({ status, conclusion }) => status !== 'completed' || conclusion === 'action_required').length +
    statuses.filter(({ state }) => state === 'pending').length;
  const failed: FailedCheck[] = [];
  for (const run of redRuns.slice(0, FAILED_MAX)) {
    const { title, summary } = run.output;
    const points =
      failed.length < TOLD_MAX && run.output.annotations_count > 0 ? await pointsOf(place, Number(run.id)) : [];
    const said = [title, summary, ...points].filter(Boolean).join('\n');
    failed.push({ name: run.name, conclusion: run.conclusion ?? '', said: clip(said), url: run.html_url });
  }
  for (const { context, state, description, target_url: url } of redStatuses.slice(0, FAILED_MAX))
    failed.push({ name: context, conclusion: state, said: clip(description ?? ''), url });
  const all = runs.length + statuses.length;
  const checks = failed.length > 0 ? 'red' : all === 0 ? 'none' : unfinished > 0 ? 'pending' : 'green';
  return { checks, failed, unfinished };
}

/** `src/a.ts:3: expected 1` */
async function pointsOf({ request, at }: Place, id: number): Promise<string[]> {
  const query = { ...at, check_run_id: id, per_page: 10 };
  const { data } = await request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations', query);
  return data.map(({ path, start_line: line, message }) => `${path}:${line}: ${message ?? ''}`);
}

/** Each reviewer of the repository's own whose last word is a request for changes; a comment takes nothing back. */
async function changesOf(place: Place, number: number): Promise<RequestedChanges[]> {
  const { request, at } = place;
  const reviews = await pages(async (page) => {
    const query = { ...at, pull_number: number, per_page: PER_PAGE, page };
    return (await request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', query)).data;
  });
  const last = new Map<string, (typeof reviews)[number]>();
  for (const review of reviews)
    if (WORDS.has(review.state) && REVIEWERS.has(review.author_association)) last.set(review.user?.login ?? '', review);
  const asking = [...last.values()].filter(({ state }) => state === 'CHANGES_REQUESTED');
  const found: RequestedChanges[] = [];
  for (const { id: review, user, body } of asking.slice(0, TOLD_MAX)) {
    const id = Number(review);
    const query = { ...at, pull_number: number, review_id: id, per_page: COMMENTS_MAX };
    const url = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments';
    const { data } = await request(url, query);
    const comments = data.map((one) => ({ path: one.path, line: one.line ?? null, body: clip(one.body) }));
    found.push({ id, by: user?.login ?? 'somebody', body: clip(body), comments });
  }
  return found;
}

async function pages<T>(read: (page: number) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const some = await read(page);
    all.push(...some);
    if (some.length < PER_PAGE) break;
  }
  return all;
}

const clip = (text: string): string => (text.length > SAID_MAX ? `${text.slice(0, SAID_MAX)}…` : text);
