import { clip } from './bounded.ts';

// "so that the tests pass", "makes all tests pass", "if the tests pass" claim nothing.
const NOT_WISHED = String.raw`(?<!\b(?:mak(?:e|es|ing)|so|so that|ensures?|until|if|when|once|whether|lets?|sees?|get)(?: the| all| these| your| existing){0,2} )`;
const CHECKS = '(?:tests?|specs?|checks?|suites?)';

/** Words of success that only a command could have shown: "86/86 tests pass", "ran the test suite". */
const TESTED: readonly RegExp[] = [
  String.raw`\b\d+ ?(?:/|of|out of) ?\d+ (?:[\w-]+ ){0,2}${CHECKS}\b`,
  String.raw`${NOT_WISHED}\b(?:\d+|all(?: of)?(?: the)?|every) (?:[\w-]+ ){0,2}${CHECKS} (?:(?:are|is|now|have|has|were|still|all) ){0,3}(?:pass|green|succeed|ok\b)`,
  String.raw`${NOT_WISHED}\b(?:tests?|suite|build) (?:(?:all|now|also|still|is|are|has|have) ){0,2}(?:pass|passe[sd]|passing|succeed(?:s|ed)|green)\b`,
  String.raw`\b\d+ (?:passed|passing)\b`,
  String.raw`\b(?:ran|re-?ran|executed) (?:(?:the|all|full|whole|entire|unit|existing) ){0,3}(?:tests?|test suite|suite|build|linter|type ?check)\b`,
].map((words) => new RegExp(words, 'i'));

/** "ran `npm test`": a program that an agent names as having run. */
const RAN = /\b(?:ran|re-?ran|executed) `([\w./-]+)([^`\n]{0,200})`/gi;
const PROGRAMS =
  /^(?:npm|npx|pnpm|yarn|node|deno|bun|jest|vitest|mocha|tsc|eslint|pytest|python3?|tox|ruff|mypy|go|cargo|make|cmake|ctest|mvn|gradle|dotnet|bundle|rspec|rake|phpunit|composer|docker)$/;

/**
 * A sentence about the first thing in an agent's last words that says a command was run when none could have been;
 * undefined where there is nothing of the kind. `commands`: all that the agent ran, each perhaps cut at its end.
 */
export function unbackedClaim(claim: string, commands: readonly string[]): string | undefined {
  const text = claim.replace(/[*_]/g, '').replace(/\s+/g, ' ');
  if (commands.length === 0) {
    const said = TESTED.map((words) => words.exec(text)?.[0]).find((words) => words !== undefined);
    if (said) return `the agent says "${clip(said, 80)}", but it ran no command at all`;
  }
  if (commands.some((command) => command.endsWith('…'))) return undefined;
  for (const [, program = '', rest = ''] of text.matchAll(RAN)) {
    if (!PROGRAMS.test(program) || commands.some((command) => command.includes(program))) continue;
    return `the agent says that it ran \`${clip(program + rest, 80)}\`, but it never did`;
  }
  return undefined;
}
