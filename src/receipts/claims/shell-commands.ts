/** Longer texts are looked at up to here. */
const TEXT_MAX = 20_000;
const NESTED_MAX = 3;

const TOKEN =
  /(?<escape>\\[\s\S]?)|'(?<single>[^']*)'?|"(?<double>(?:[^"\\]|\\[\s\S])*)"?|<<<|<<-?[ \t]*(['"]?)(?<body>[\w.-]+)\4|(?<plain>[<>]&|&>)|(?<comment>(?<=^|[\s;|&(])#[^\n]*)|(?<end>[|&;()`\n])|(?<blank>\s)|[^\s\\'"<>|&;()`#]+|[\s\S]/g;

/**
 * Each command of a shell's text as words without their quotes, its program first and without folders; also those in `$(…)` and of
 * `sh -c`. A here-document is a word of the command that reads it. What cannot be parsed is no command: nothing is run.
 */
export function commandsIn(text: string, nested = 0): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  let bodies: string[] = [];
  const said = text.slice(0, TEXT_MAX);
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    commands.push(words);
    words = [];
  };
  const tokens = new RegExp(TOKEN);
  for (let token = tokens.exec(said); token; token = tokens.exec(said)) {
    const { escape, single, double, body, comment, end, blank } = token.groups!;
    if (escape !== undefined) word = escape === '\\\n' ? word : (word ?? '') + escape.slice(1);
    else if (single !== undefined) word = (word ?? '') + single;
    else if (double !== undefined) {
      word = (word ?? '') + double.replace(/\\(["\\$`\n])/g, '$1');
      if (nested < NESTED_MAX) commands.push(...inQuotes(double).flatMap((part) => commandsIn(part, nested + 1)));
    } else if (body !== undefined) bodies.push(body);
    else if (end === '\n' && bodies.length > 0) {
      const read = readBodies(said, { from: tokens.lastIndex, ends: bodies });
      endWord();
      words.push(...read.texts);
      tokens.lastIndex = read.to;
      bodies = [];
      endCommand();
    } else if (end !== undefined) endCommand();
    else if (blank !== undefined) endWord();
    else if (comment === undefined) word = (word ?? '') + token[0];
  }
  endCommand();
  return commands.flatMap((command) => unwrapped(command, nested)).filter(([program]) => program);
}

/** What a shell runs within double quotes. */
const inQuotes = (text: string): string[] =>
  [...text.matchAll(/\$\(([^()]*)\)?|(?<!\\)`([^`]*)`?/g)].map(([, one, other]) => one ?? other ?? '');

function readBodies(text: string, { from, ends }: { from: number; ends: string[] }): { texts: string[]; to: number } {
  const texts: string[] = [];
  let to = from;
  for (const end of ends) {
    const lines: string[] = [];
    while (to < text.length) {
      const at = text.indexOf('\n', to);
      const line = text.slice(to, at < 0 ? text.length : at);
      to = at < 0 ? text.length : at + 1;
      if (line.trim() === end) break;
      lines.push(line);
    }
    texts.push(lines.join('\n'));
  }
  return { texts, to };
}

const SHELL = /^(?:\S*\/)?(?:ba|z|da|k)?sh$/;
/** Stands before a program without being one. */
const BEFORE = /^(?:\w+=[\s\S]*|sudo|env|nohup|time|exec|command|xargs|npx|bunx|uvx|timeout|-\S+|\d+[smh]?|[{!])$/;

/** Without what stands before its program; what a shell is given to run in its place. */
function unwrapped(words: readonly string[], nested: number): string[][] {
  // It only looks whether there is such a program.
  if (words.some((word, at) => word === 'command' && /^-[vV]/.test(words[at + 1] ?? ''))) return [];
  const at = words.findIndex((word) => !BEFORE.test(word));
  if (at < 0) return [];
  const [program = '', ...rest] = words.slice(at);
  const script = SHELL.test(program) ? rest.findIndex((word) => /^-[a-z]*c$/.test(word)) : -1;
  if (script < 0) return [[program.replace(/^.*\//s, ''), ...rest]];
  return nested < NESTED_MAX ? commandsIn(rest.slice(script + 1).join(' '), nested + 1) : [];
}
