import { quoted, type StartScript } from './start-script.ts';

export interface Night {
  /** `22:30` */
  at: string;
  /** How long it takes new work, in seconds. */
  seconds: number;
}

/** A line for `crontab -e`: a worker for one night, every night. At its end it finishes its runs. Secrets are not in it. */
export function cronLine({ node, main, args, env, envSetup }: StartScript, { at, seconds }: Night): string {
  const [hour = '', minute = ''] = at.split(':');
  const set = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  const worker = [...set, 'timeout', '--signal=TERM', `${seconds}s`, ...[node, main, ...args].map(quoted)].join(' ');
  const command = envSetup === undefined ? worker : `. ${quoted(envSetup)} && ${worker}`;
  // cron ends a command at a percent sign.
  return `${Number(minute)} ${Number(hour)} * * * ${command.replaceAll('%', String.raw`\%`)}`;
}

/** `HH:MM` */
export const isTime = (text: string): boolean => /^([01]?\d|2[0-3]):[0-5]\d$/.test(text);
