import { MARK } from './start-script.ts';

export interface LaunchAgent {
  label: string;
  /** The start script, absolute. */
  start: string;
  /** Where it writes, absolute. */
  log: string;
  /** Longest time from TERM to its end, in seconds. */
  stopSeconds: number;
}

type Value = string | number | boolean | readonly string[] | { readonly [key: string]: Value };

/** The keys of launchd.plist(5) that are used here, in its words. */
const entriesOf = ({ label, start, log, stopSeconds }: LaunchAgent): { [key: string]: Value } => ({
  Label: label,
  ProgramArguments: [start],
  RunAtLoad: true,
  // Ended by itself it stays so; killed, or failed, it is started again.
  KeepAlive: { SuccessfulExit: false },
  ThrottleInterval: 10,
  ExitTimeOut: stopSeconds,
  // The keeper and the agents are the next worker's to adopt.
  AbandonProcessGroup: true,
  ProcessType: 'Standard',
  StandardOutPath: log,
  StandardErrorPath: log,
});

/** A LaunchAgent's property list, as XML. */
export const launchAgent = (of: LaunchAgent): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${MARK} -->
<plist version="1.0">
${xml(entriesOf(of))}
</plist>
`;

function xml(value: Value): string {
  if (typeof value === 'string') return `<string>${escaped(value)}</string>`;
  if (typeof value === 'number') return `<integer>${value}</integer>`;
  if (typeof value === 'boolean') return value ? '<true/>' : '<false/>';
  if (Array.isArray(value)) return `<array>\n${value.map((one: string) => xml(one)).join('\n')}\n</array>`;
  const entries = Object.entries(value).map(([key, of]) => `<key>${escaped(key)}</key>\n${xml(of)}`);
  return `<dict>\n${entries.join('\n')}\n</dict>`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
