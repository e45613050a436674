import type { TaskType } from '../../domain/task/schema.ts';
import type { Evidence } from '../../ports.ts';
import { commandsIn } from './shell-commands.ts';
import { isCut, isShell, toolCalls } from './shell-calls.ts';

/** A type that leaves no change of files to look at. */
type Wordy = Exclude<TaskType, 'code'>;

/** What a call has to be like to have done the work of a type. What is not named here is nobody's evidence: a person is asked. */
interface Able {
  /** By a word of the tool's name. */
  tool: (words: ReadonlySet<string>) => boolean;
  /** By a command's program, with what follows it. */
  command: (program: string, args: readonly string[]) => boolean;
}

const has = (words: ReadonlySet<string>, of: readonly string[]): boolean => of.some((word) => words.has(word));

const LOOKING = ['get', 'list', 'read', 'search', 'find', 'view', 'check', 'fetch', 'history'];
const SENDING = ['send', 'post', 'publish', 'reply', 'comment', 'notify', 'tweet', 'broadcast', 'announce'];
const MAKING = ['create', 'add', 'write', 'submit'];
const SENT = ['message', 'comment', 'issue', 'reply', 'mail', 'email', 'post', 'ticket', 'note'];
const BROWSING = ['browser', 'browse', 'playwright', 'puppeteer', 'selenium', 'chrome', 'chromium', 'navigate'];
const READING = ['read', 'view', 'open', 'grep', 'diff'];
/** Names of the agent's own lists and notes. */
const OWN = ['todo', 'todos', 'plan', 'memory', 'task', 'tasks', 'agent'];

const FETCHERS = /^(?:curl|wget|https?|xh|aria2c|lynx|w3m|links|elinks)$/;
const INTERPRETERS = /^(?:node|deno|bun|python[\d.]*|ruby|perl|php|tsx)$/;
const READERS =
  /^(?:cat|head|tail|less|more|bat|nl|grep|egrep|fgrep|rg|ag|sed|awk|jq|yq|strings|pdftotext|sqlite3|psql|duckdb)$/;
const GIT_READS = /^(?:-\S+ (?:\S+ )?)*(?:show|diff|log|blame|grep|cat-file)\b/;

const MAILERS = /^(?:sendmail|mailx?|mutt|swaks|msmtp|s-nail)$/;
const NOTIFIERS = /^(?:notify-send|telegram-send|signal-cli|apprise|ntfy)$/;
const WRITES = /^(?:POST|PUT|PATCH)$/i;

/** The value of an option, also as `-XPOST` or `--request=POST`. */
const valueOf = (args: readonly string[], option: RegExp): string | undefined => {
  const at = args.findIndex((arg) => option.test(arg));
  return at < 0 ? undefined : args[at]!.replace(option, '').replace(/^=/, '') || args[at + 1];
};

const curls = (args: readonly string[]): boolean =>
  WRITES.test(valueOf(args, /^(?:-[sSLkfvi]*X|--request(?==|$))/) ?? '') ||
  (!args.some((arg) => /^(?:-[sSLkfvi]*G|--get|-[sSLkfvi]*I|--head)$/.test(arg)) &&
    args.some((arg) => /^(?:-[sSLkfvi]*[dFT]|--data|--form|--upload-file|--json|--mail-rcpt)/.test(arg)));

/** `gh issue comment`, `gh api -f body=hi`. */
const tellsForge = ([first, ...rest]: readonly string[]): boolean =>
  first === 'api'
    ? WRITES.test(valueOf(rest, /^(?:-X|--method(?==|$))/) ?? 'POST') &&
      rest.some((arg) => /^(?:-[fFX]|--(?:field|raw-field|input|method)\b)/.test(arg))
    : rest.slice(0, 2).some((arg) => /^(?:comment|create|note|review)$/.test(arg));

const sends = (program: string, args: readonly string[]): boolean => {
  if (MAILERS.test(program)) return args.some((arg) => /^[^-]|^-t$/.test(arg));
  if (NOTIFIERS.test(program)) return args.length > 0;
  if (program === 'curl') return curls(args);
  if (program === 'wget') return args.some((arg) => /^--(?:post|method=P|body)/.test(arg));
  if (/^(?:https?|xh)$/.test(program)) return args.some((arg) => WRITES.test(arg));
  if (/^(?:gh|glab)$/.test(program)) return tellsForge(args);
  if (program === 'aws') return /^(?:ses|sesv2|sns|sqs)$/.test(args[0] ?? '');
  if (program === 'git') return args[0] === 'send-email';
  return (
    INTERPRETERS.test(program) &&
    /\.post\(|smtplib|sendmail|nodemailer|postMessage|method['"]?: ?['"]POST/i.test(args.join(' '))
  );
};

const browses = (program: string, args: readonly string[]): boolean =>
  FETCHERS.test(program) ||
  /^(?:playwright|puppeteer|chromium\S*|google-chrome\S*|chrome|firefox|agent-browser|browser-use)$/.test(program) ||
  (INTERPRETERS.test(program) && /playwright|puppeteer|selenium|requests\.|fetch\(|urlopen/i.test(args.join(' ')));

const reads = (program: string, args: readonly string[]): boolean =>
  READERS.test(program) || (program === 'git' && GIT_READS.test(args.join(' ')));

/** It says how it is used, and does nothing. */
const onlyHelps = (args: readonly string[]): boolean =>
  args.some((arg) => /^--(?:help|version|dry-run)$/.test(arg)) || (args.length === 1 && /^-[hV]$/.test(args[0]!));

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
    command: (program, args) => reads(program, args) || browses(program, args) || program === 'gh',
  },
  review: { tool: (words) => !has(words, OWN) && has(words, READING), command: reads },
};

/** Claude's, by which agents talk to each other. */
const AMONG_AGENTS = /^SendMessage$/;

/**
 * The calls of an agent's model that could have done the work of its task, by the record of the run's model proxy: what it asked
 * for and was told the result of, but for those that the event stream shows to have failed. Each by its tool and program: what it was
 * given may be a key.
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
      const could = told && !broke ? couldHaveDone(type, { name, input: whole }) : undefined;
      return could === undefined ? [] : [could];
    }),
  );
}

const COMPARED = 120;
const bare = (text: string): string => text.replace(/['"\\\s]/g, '');

/** How a call of that tool, with that input, could have done the work of a task of that type: its program, or itself. */
export function couldHaveDone(type: Wordy, { name, input }: { name: string; input: string }): string | undefined {
  const able = ABLE[type];
  if (isShell(name)) {
    const command = commandsIn(commandIn(input)).find(
      ([program = '', ...args]) => !onlyHelps(args) && able.command(program, args),
    );
    return command && `${name} ${command[0]}`;
  }
  return !AMONG_AGENTS.test(name) && able.tool(wordsOf(name)) ? name : undefined;
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
    return Array.isArray(text) ? text.map(shellWord).join(' ') : typeof text === 'string' ? text : '';
  } catch {
    return input
      .replace(/^\s*\{\s*"\w+"\s*:\s*(?:\[\s*)?"/, '')
      .replace(/(?<!\\)",\s*"/g, ' ')
      .replaceAll('\\n', '\n')
      .replaceAll('\\"', '"');
  }
}

const shellWord = (word: unknown): string =>
  /^[\w@%+=:,./-]+$/.test(String(word)) ? String(word) : `'${String(word).replaceAll("'", String.raw`'\''`)}'`;
