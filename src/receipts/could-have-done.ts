import type { TaskType } from '../domain/task.ts';
import type { Evidence } from '../ports.ts';
import { isCut, isShell, toolCalls } from './shell-calls.ts';

/** A type that leaves no change of files to look at. */
type Wordy = Exclude<TaskType, 'code'>;

/** What a call has to be like to have done the work of a type. What is not named here is nobody's evidence: a person is asked. */
interface Able {
  /** By a word of the tool's name. */
  tool: (words: ReadonlySet<string>) => boolean;
  /** By a command's program, with what follows it. */
  command: (program: string, rest: string) => boolean;
}

const has = (words: ReadonlySet<string>, of: readonly string[]): boolean => of.some((word) => words.has(word));

const LOOKING = ['get', 'list', 'read', 'search', 'find', 'view', 'check', 'fetch', 'history'];
const SENDING = ['send', 'post', 'publish', 'reply', 'comment', 'notify', 'tweet', 'broadcast', 'announce'];
const MAKING = ['create', 'add', 'write', 'submit'];
const SENT = ['message', 'comment', 'issue', 'reply', 'mail', 'email', 'post', 'ticket', 'note'];
const BROWSING = ['browser', 'browse', 'playwright', 'puppeteer', 'selenium', 'chrome', 'chromium', 'navigate'];
const READING = ['read', 'view', 'open', 'grep', 'diff'];
/** Of the agent's own lists and notes. */
const OWN = ['todo', 'todos', 'plan', 'memory', 'task', 'tasks', 'agent'];

const FETCHERS = /^(?:curl|wget|https?|xh|aria2c|lynx|w3m|links|elinks)$/;
const INTERPRETERS = /^(?:node|deno|bun|python[\d.]*|ruby|perl|php|tsx)$/;
const READERS =
  /^(?:cat|head|tail|less|more|bat|nl|grep|egrep|fgrep|rg|ag|sed|awk|jq|yq|strings|pdftotext|sqlite3|psql|duckdb)$/;
const GIT_READS = /^(?:-\S+ (?:\S+ )?)*(?:show|diff|log|blame|grep|cat-file)\b/;

const sends = (program: string, rest: string): boolean => {
  if (/^(?:sendmail|mailx?|mutt|swaks|msmtp|s-nail|notify-send|telegram-send|signal-cli|apprise|ntfy)$/.test(program))
    return true;
  if (program === 'curl')
    return /(?:^|\s)(?:-d|--data|-F|--form|-T|--upload-file|--json|--mail-rcpt|(?:-X|--request)[ =]?(?:POST|PUT|PATCH))/.test(
      rest,
    );
  if (program === 'wget') return /--(?:post|method=P|body)/.test(rest);
  if (/^(?:https?|xh)$/.test(program)) return /\b(?:POST|PUT|PATCH)\b/.test(rest);
  if (/^(?:gh|glab)$/.test(program)) return /\b(?:comment|create|note|review|-X|-f|-F|--field|--method)\b/.test(rest);
  if (program === 'aws') return /^(?:ses|sesv2|sns|sqs)\b/.test(rest);
  if (program === 'git') return /^send-email\b/.test(rest);
  return (
    INTERPRETERS.test(program) && /\.post\(|smtplib|sendmail|nodemailer|postMessage|method['"]?: ?['"]POST/i.test(rest)
  );
};

const browses = (program: string, rest: string): boolean =>
  FETCHERS.test(program) ||
  /^(?:playwright|puppeteer|chromium\S*|google-chrome\S*|chrome|firefox|agent-browser|browser-use)$/.test(program) ||
  (INTERPRETERS.test(program) && /playwright|puppeteer|selenium|requests\.|fetch\(|urlopen/i.test(rest));

const reads = (program: string, rest: string): boolean =>
  READERS.test(program) || (program === 'git' && GIT_READS.test(rest));

const ABLE: Record<Wordy, Able> = {
  message: {
    tool: (words) =>
      !has(words, [...LOOKING, ...OWN]) && (has(words, SENDING) || (has(words, MAKING) && has(words, SENT))),
    command: sends,
  },
  browser: {
    tool: (words) => has(words, BROWSING) || (words.has('web') && words.has('fetch')),
    command: browses,
  },
  research: {
    tool: (words) =>
      !has(words, OWN) && has(words, [...READING, ...BROWSING, 'search', 'fetch', 'query', 'get', 'lookup']),
    command: (program, rest) => reads(program, rest) || browses(program, rest) || program === 'gh',
  },
  review: { tool: (words) => !has(words, OWN) && has(words, READING), command: reads },
};

/** Claude's, by which agents talk to each other. */
const AMONG_AGENTS = /^SendMessage$/;

/**
 * The calls of an agent's model that could have done the work of its task, by the record of the run's model proxy: what it asked
 * for and was told the result of, but for those that the event stream shows to have failed.
 */
export function callsThatCould(type: TaskType, { wire, events }: Pick<Evidence, 'wire' | 'events'>): string[] {
  if (type === 'code' || !wire || wire.unseen !== null) return [];
  const printed = toolCalls(events);
  const byId = new Map(printed.map((call) => [call.id, call]));
  const failed = printed.filter(({ ok, shell }) => ok === false && shell).map(({ input }) => bare(input));
  const answered = new Set(wire.exchanges.flatMap(({ results }) => results.map(({ id }) => id)));
  return wire.exchanges.flatMap(({ calls }, at) =>
    calls.flatMap(({ id, name, input }) => {
      const told =
        id === null ? wire.exchanges.slice(at + 1).some(({ results }) => results.length > 0) : answered.has(id);
      const shown = id === null ? undefined : byId.get(id);
      const begin = bare(commandIn(input)).slice(0, COMPARED);
      const broke = shown ? shown.ok === false : begin !== '' && failed.some((command) => command.includes(begin));
      const whole = shown && !isCut(shown) ? shown.input : input;
      return told && !broke && couldHaveDone(type, { name, input: whole }) ? [`${name} ${whole}`] : [];
    }),
  );
}

const COMPARED = 120;
const bare = (text: string): string => text.replace(/['"\\\s]/g, '');

/** Whether a call of that tool, with that input, could have done the work of a task of that type. */
export function couldHaveDone(type: Wordy, { name, input }: { name: string; input: string }): boolean {
  const able = ABLE[type];
  if (isShell(name))
    return commandsIn(commandIn(input)).some(([program = '', ...rest]) => able.command(program, rest.join(' ')));
  return !AMONG_AGENTS.test(name) && able.tool(wordsOf(name));
}

/** `mcp__slack__postMessage`: mcp, slack, post, message. */
const wordsOf = (name: string): Set<string> =>
  new Set(
    name
      .replace(/([a-z\d])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split(/[^a-z\d]+/),
  );

/** The shell's text in a tool's input, which may be JSON that is cut short. */
function commandIn(input: string): string {
  try {
    const said: unknown = JSON.parse(input);
    const { command, cmd, script } = Object(said) as Record<string, unknown>;
    const text = command ?? cmd ?? script ?? said;
    return Array.isArray(text) ? text.join(' ') : typeof text === 'string' ? text : '';
  } catch {
    return input
      .replace(/^\s*\{\s*"\w+"\s*:\s*\[?\s*"/, '')
      .replaceAll('\\n', '\n')
      .replaceAll('\\"', '"');
  }
}

/** Stands before a program without being one. */
const BEFORE =
  /^(?:\w+=\S*|sudo|env|nohup|time|exec|command|xargs|npx|bunx|uvx|timeout|-\S+|\d+[smh]?|[({!]|(?:\S*\/)?(?:ba|z)?sh)$/;

/** Each command of a shell's text as words, its program first and without folders. */
function commandsIn(text: string): string[][] {
  return text.split(/\|\||&&|[;|&\n`]|\$\(/).map((command) => {
    const words = command
      .trim()
      .replace(/^['"]+/, '')
      .split(/\s+/);
    const at = words.findIndex((word) => !BEFORE.test(word));
    const [program = '', ...rest] = at === -1 ? [] : words.slice(at);
    return [program.replace(/^['"]+|['"]+$/g, '').replace(/^.*\//, ''), ...rest];
  });
}
