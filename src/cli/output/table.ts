import Table from 'cli-table3';

const SIDES = ['top', 'bottom', 'left', 'right', 'mid'];
const PARTS = ['', '-mid', '-left', '-right'];
const NONE = Object.fromEntries([...SIDES.flatMap((side) => PARTS.map((part) => [side + part, ''])), ['middle', '  ']]);

/** A plain table without borders; columns that are empty all the way down are left out. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const used = head.flatMap((_, column) => (rows.some((row) => row[column]) ? column : []));
  const pick = (row: readonly string[]): string[] => used.map((column) => row[column] ?? '');
  const drawn = new Table({
    chars: NONE,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  drawn.push(pick(head.map((name) => name.toUpperCase())), ...rows.map(pick));
  return drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
