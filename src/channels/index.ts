export { raiseAlarm } from './service/alarm.ts';
export { peopleOf } from './service/people.ts';
export { runChannel } from './service/run.ts';
export { openTelegram } from './telegram/check.ts';
export { openTerminal } from './terminal/channel.ts';
