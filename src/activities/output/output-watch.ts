import { readSegments, type LogStream } from '../../adapters/state/log-segments.ts';
import { NewText } from '../../domain/evidence/new-text.ts';

/** How many of a stream's newest bytes are read at each look. */
const SAMPLE = 64 * 1024;

/** Whether a live agent prints anything new, on either stream. */
export class OutputWatch {
  readonly #dir: string;
  readonly #text: Record<'stdout' | 'stderr', NewText> = { stdout: new NewText(), stderr: new NewText() };
  readonly #seen = { stdout: 0, stderr: 0 };

  /** `dir`: of the run's log segments. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** New lines so far, and lines that only came again. `bytes`: how much each stream has. */
  async look(bytes: Record<'stdout' | 'stderr', number>): Promise<{ fresh: number; repeated: number }> {
    for (const stream of ['stdout', 'stderr'] as const) await this.#read(stream, bytes[stream]);
    const { stdout, stderr } = this.#text;
    return { fresh: stdout.fresh + stderr.fresh, repeated: stdout.repeated + stderr.repeated };
  }

  async #read(stream: Exclude<LogStream, 'hooks'>, end: number): Promise<void> {
    const added = end - this.#seen[stream];
    if (added <= 0) return;
    let text = '';
    let from = Math.max(this.#seen[stream], end - SAMPLE);
    const asked = end - from;
    while (from < end) {
      const piece = await readSegments({ dir: this.#dir, stream }, from, end - from);
      if (piece.bytes.length === 0) break;
      text += piece.bytes.toString('utf8');
      from = piece.next;
    }
    this.#seen[stream] = end;
    this.#text[stream].push(text, added / asked);
  }
}
