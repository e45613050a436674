/** What keys of well-known vendors look like. A name, a prefix, and what is random in it as the first group. */
const SHAPES: readonly (readonly [what: string, shape: RegExp])[] = [
  ['an AWS access key', /\b(?:AKIA|ASIA)([A-Z2-7]{16})\b/g],
  [
    'an AWS secret key',
    /aws_?secret_?(?:access_?)?key["']?\s{0,5}[:=]{1,2}>?\s{0,5}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi,
  ],
  ['a GitHub token', /\bgh[opsur]_([A-Za-z0-9]{36,255})\b/g],
  ['a GitHub token', /\bgithub_pat_(\w{50,255})\b/g],
  ['a GitLab token', /\bglpat-([\w-]{20,100})/g],
  ['an Anthropic key', /\bsk-ant-[a-z]{2,10}\d{0,3}-([\w-]{40,200})/g],
  ['an OpenAI key', /\bsk-(?:proj|svcacct|admin|None)-([\w-]{40,250})/g],
  ['an OpenAI key', /\bsk-([A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})\b/g],
  ['an OpenRouter key', /\bsk-or-v1-([0-9a-f]{64})\b/g],
  ['a Slack token', /\bxox[abeoprs]-(\d{6,}-[\w-]{16,200})/g],
  ['a Slack webhook', /hooks\.slack\.com\/services\/(T\w{6,}\/B\w{6,}\/\w{20,})/g],
  ['a Google API key', /\bAIza([\w-]{35})(?![\w-])/g],
  ['a Google OAuth secret', /\bGOCSPX-([\w-]{28})(?![\w-])/g],
  ['a Stripe key', /\b[rs]k_live_([A-Za-z0-9]{24,200})/g],
  ['an npm token', /\bnpm_([A-Za-z0-9]{36})\b/g],
  ['a PyPI token', /\bpypi-(AgEIcHlwaS5vcmc[\w-]{50,300})/g],
  ['a Hugging Face token', /\bhf_([A-Za-z]{34})\b/g],
  ['a Telegram bot token', /\b\d{8,10}:(AA[\w-]{33})(?![\w-])/g],
];

/** What all of them have of these: most lines are done with at one look. */
const HINT =
  /AKIA|ASIA|aws_?secret|gh[opsur]_|github_pat_|glpat-|sk-|xox|hooks\.slack|AIza|GOCSPX-|k_live_|npm_|pypi-|hf_|:AA|PRIVATE KEY/i;

/** With its content behind it on the same line, as in a string, or on the next one: what only looks for the words has none. */
const BLOCK = /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----/;
const CONTENT = /^\s*["'`]?(?:\\[rn]|\s)*(?:Proc-Type|Version|Comment|[A-Za-z0-9+/]{40})/;

/** Repeated, or counted up: an example. */
const DISTINCT = 8;

export interface ShapeFound {
  what: string;
  /** As it stands there; never to be written anywhere. */
  text: string;
}

/** The keys on a line; `next` is the one behind it. */
export function keysOn(line: string, next: string): ShapeFound[] {
  if (!HINT.test(line)) return [];
  const found = SHAPES.flatMap(([what, shape]) =>
    [...line.matchAll(shape)].flatMap(([text, random = '']) => (isRandom(random) ? [{ what, text }] : [])),
  );
  const begin = BLOCK.exec(line);
  const behind = begin && line.slice(begin.index + begin[0].length);
  if (begin && behind !== null && (CONTENT.test(behind) || (/^\s*["'`]?[+,]?\s*$/.test(behind) && CONTENT.test(next))))
    found.push({ what: 'a private key', text: begin[0] });
  return found;
}

const isRandom = (text: string): boolean =>
  new Set(text).size >= DISTINCT && !/example|placeholder|your|dummy|changeme|xxxx|0123456789|abcdefgh/i.test(text);

/** Where a result would deliver a secret; `commit` where a later one takes it out again. */
export interface SecretFound {
  path: string;
  line: number;
  what: string;
  commit?: string;
}
