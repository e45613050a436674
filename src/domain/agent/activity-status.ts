import { formatDuration } from '../values/duration.ts';
import type { WireLive } from './model-traffic.ts';

/** From here on an open request counts as slow, and nothing at all as no sign of life. */
const SLOW_MS = 10_000;
const SILENT_MS = 60_000;

/** What a live agent waits for, as far as can be told; undefined where its last event says enough. */
export function doingOf(
  seen: {
    /** What goes on between it and its model; undefined where nobody sees that. */
    wire: WireLive | undefined;
    /** A tool call that has no result yet. */
    tool: { what: string; at: string } | undefined;
    /** ISO, of its last output. */
    lastAt: string | undefined;
  },
  nowMs: number,
): string | undefined {
  const { wire, tool, lastAt } = seen;
  if (wire && wire.open > 0)
    return wire.quietMs < SLOW_MS ? undefined : `the model is slow: no byte for ${since(wire.quietMs)}`;
  if (tool) return `a tool runs, for ${since(nowMs - Date.parse(tool.at))}: ${tool.what}`;
  const silentMs = lastAt ? nowMs - Date.parse(lastAt) : 0;
  return silentMs < SILENT_MS ? undefined : `no sign of life for ${since(silentMs)}`;
}

const since = (ms: number): string => formatDuration(Math.max(0, ms));
