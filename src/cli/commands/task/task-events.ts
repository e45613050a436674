import type { StoredEvent } from '../../../domain/agent/event.ts';
import { command, whole } from '../../command.ts';
import { readWhole } from '../../input/read-file.ts';
import { oneLine, toJson } from '../../output/text.ts';

export const taskEvents = command<{ run?: number }>({
  flags: [{ flag: '--run <n>', about: 'of this run (default: the last)', parse: whole }],
  notes: 'With --json: one event a line.',
  examples: ['fleet task add-health-k3x9qa events'],
  async run(cli, { args, flags }) {
    const fleet = await cli.fleet();
    const { text } = await readWhole(fleet, await fleet.findRun(args[0]!, flags.run), 'events');
    const events = parseEvents(text);
    for (const event of events) cli.out(cli.json ? toJson(event) : eventLine(event));
    if (!events.length) cli.note('there are no events: its coder reports none, or has not begun');
  },
});

/** A line that is cut short, as the last one of a live run may be, is left out. */
export function parseEvents(text: string): StoredEvent[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line ? (JSON.parse(line) as StoredEvent) : [];
    } catch {
      return [];
    }
  });
}

const WIDTH = 160;

export function eventLine(event: StoredEvent): string {
  return `${event.at.slice(11, 19)}  ${event.type.padEnd(12)} ${oneLine(saidBy(event), WIDTH)}`.trimEnd();
}

function saidBy(event: StoredEvent): string {
  switch (event.type) {
    case 'started':
      return [event.model, event.session].filter(Boolean).join(', session ');
    case 'text':
      return event.text;
    case 'tool-call':
      return `${event.name} ${event.input}`;
    case 'tool-result':
      return `${event.ok ? 'ok' : 'failed'}: ${event.output}`;
    case 'usage':
      return `${event.input} in, ${event.output} out, ${event.cached} cached`;
    case 'waiting':
    case 'refused':
      return event.what;
    case 'rate-limited':
      return event.until ? `until ${event.until}` : '';
    case 'quota':
      return `${Math.round(event.part * 100)} % of the window is used${event.until ? `, until ${event.until}` : ''}`;
    case 'ended':
      return `${event.ok ? 'ok' : (event.failure ?? 'failed')}: ${event.text}`;
  }
}
