import { MARK } from './start-script.ts';

export interface Unit {
  /** The worker's name. */
  name: string;
  /** The start script, absolute. */
  start: string;
  /** `$FLEET_HOME` */
  home: string;
  /** Longest time from TERM to its end, in seconds. */
  stopSeconds: number;
}

/** As systemd reads a path: no specifier, no variable, no end of a word in it. */
const path = (text: string): string =>
  `"${text.replaceAll('%', '%%').replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/**
 * A systemd user unit. Only the worker itself is ended with it: the keeper and the agents are the next one's to adopt. Bad
 * use (exit code 2) is not tried again, and a home that is gone is not made anew.
 */
export const systemdUnit = ({ name, start, home, stopSeconds }: Unit): string => `${MARK}
[Unit]
Description=Infinity Fleet worker ${name.replaceAll('%', '%%')}
AssertPathExists=${home.replaceAll('%', '%%')}
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${path(start).replaceAll('$', '$$$$')}
WorkingDirectory=-%h
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
KillMode=process
OOMPolicy=continue
TimeoutStopSec=${stopSeconds}
Delegate=yes

[Install]
WantedBy=default.target
`;
