import { readSegments } from '../../adapters/state/log-segments.ts';
import type { HookCall, HookLog } from '../../domain/agent/event.ts';

const PHASES: readonly unknown[] = ['pre', 'post', 'failed'] satisfies HookCall['phase'][];
/** A hook's line has 500 bytes at most. */
const LINE_MAX = 512;
const CALLS_MAX = 20_000;

/** What a run's hooks said, in the order in which it came; null where there was nothing. Never throws for what it reads. */
export async function readHooks(dir: string): Promise<HookLog | null> {
  const log: HookLog = { calls: [], garbage: 0, whole: true };
  let rest = '';
  let offset = 0;
  for (;;) {
    const piece = await readSegments({ dir, stream: 'hooks' }, offset, 1024 * 1024);
    if (piece.bytes.length === 0) break;
    if (piece.gap > 0) [rest, log.whole] = ['', false];
    offset = piece.next;
    const lines = (rest + piece.bytes.toString('latin1')).split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_MAX + 1);
    for (const line of lines) take(log, line);
  }
  if (rest) log.garbage += 1;
  return offset === 0 ? null : log;
}

function take(log: HookLog, line: string): void {
  const call = line.length <= LINE_MAX ? parse(Buffer.from(line, 'latin1').toString('utf8')) : undefined;
  if (!call) log.garbage += 1;
  else if (log.calls.length < CALLS_MAX) log.calls.push(call);
  else log.whole = false;
}

function parse(line: string): HookCall | undefined {
  try {
    const { phase, id, name, sha256, input } = JSON.parse(line) as Record<keyof HookCall, unknown>;
    const texts = [id, name, sha256, input].every((value) => typeof value === 'string');
    return texts && PHASES.includes(phase) ? ({ phase, id, name, sha256, input } as HookCall) : undefined;
  } catch {
    return undefined;
  }
}
