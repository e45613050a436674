import type { DeclaredTest, Edit, TestSource } from '../../domain/evidence/test-source.ts';

/**
 * The source with the turns of the chosen tests applied (all turns of a chosen test), and `shared`. The other tests are changed so that
 * they mean what they did, and look as the chosen ones do.
 */
export function turnTests(text: string, source: TestSource, chosen: ReadonlySet<DeclaredTest>): string {
  const edits = source.tests.flatMap((test) => [
    ...(test.marks ?? []),
    ...test.turns.flatMap((turn) => (chosen.has(test) ? turn.edits : (turn.neutral ?? []))),
  ]);
  return applyEdits(text, [...source.shared, ...edits]);
}

/** Where two overlap, the later one gives way. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < done) continue;
    parts.push(text.slice(done, edit.start), edit.text);
    done = edit.end;
  }
  return [...parts, text.slice(done)].join('');
}
