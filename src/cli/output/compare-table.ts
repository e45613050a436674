import type { Candidate } from '../../domain/list/compare.ts';
import { costText } from '../../domain/agent/cost.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import { table } from './table.ts';
import { oneLine, shortNumber, type Paint } from './text.ts';

/** Candidates side by side, as they were asked for. */
export function compareTable(candidates: readonly Candidate[], winner: Candidate | undefined, paint: Paint): string {
  return table(
    ['', 'coder', 'model', 'verdict', 'runs', 'time', 'tokens', 'cost', 'files', 'lines', 'review', 'task'],
    candidates.map((one) => [
      one === winner ? '*' : '',
      oneLine(one.spec, 40),
      oneLine(one.model ?? '', 30),
      one.accepted ? paint('green', 'accepted') : paint('red', oneLine(one.reason ?? one.state, 30)),
      String(one.attempts),
      formatDuration(one.seconds * 1_000),
      one.tokens ? shortNumber(one.tokens) : '',
      costText(one),
      one.files === null ? '' : String(one.files),
      one.lines ? `+${one.lines.added} -${one.lines.removed}` : '',
      one.review === null ? '' : one.review ? 'ok' : 'veto',
      oneLine(one.id, 64),
    ]),
  );
}
