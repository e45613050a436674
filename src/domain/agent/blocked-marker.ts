/** How an agent says that it cannot do what it was asked to: on a line of its own, with its reason behind it. */
export const BLOCKED_MARK = 'FLEET-BLOCKED:';

const REASON_MAX = 500;
const LINE = /^ {0,3}(?:[*_]{2}|`)?FLEET-BLOCKED:(?:[*_]{2})?[ \t]*(.*)$/;

/**
 * The reason, where a last message says that its agent is blocked: as its first or its last line, outside of code blocks. In
 * the middle of an answer, in a quotation, or with the prompt's `<reason>` behind it, it is only talked about.
 */
export function blockedIn(message: string): string | undefined {
  let fence = '';
  const lines = message.split(/\r\n|\r|\n/).filter((line) => line.trim());
  const shown = lines.map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    const inside = mark !== '' || fence !== '';
    if (mark) fence = !fence ? mark : mark.startsWith(fence) ? '' : fence;
    return inside ? '' : line;
  });
  const said = [shown.at(-1), shown[0]].flatMap((line) => LINE.exec(line ?? '')?.[1] ?? []);
  return said.map(readable).find((reason) => /[\p{L}\p{N}]/u.test(reason) && !/^<[^>]*>$/.test(reason));
}

const readable = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replace(/(?:[*_]{2}|`)$/, '')
    .trim()
    .slice(0, REASON_MAX);
