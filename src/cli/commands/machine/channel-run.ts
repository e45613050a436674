import { wrongInput, notFound } from '../../../domain/error.ts';
import { command, type Cli } from '../../command.ts';
import { oneLine } from '../../output/text.ts';

export const channelRun = command({
  notes: `telegram (the default): the bot of channels.telegram, see docs/telegram.md. terminal: the same here, typed.
One process for each bot. It may be killed at any time: what it knows is in FLEET_HOME/channels.`,
  examples: ['fleet channel run', 'fleet channel run terminal'],
  async run(cli, { args: [name = 'telegram'] }) {
    const stop = new AbortController();
    using _ = cli.onSignal(() => stop.abort());
    const { peopleOf, openTelegram, openTerminal, raiseAlarm, runChannel } = await import('../../../channels/index.ts');
    const config = cli.config();
    const { telegram } = config.channels;
    if (name !== 'telegram' && name !== 'terminal')
      throw notFound(`there is no channel ${name}: there are telegram and terminal`);
    if (name === 'telegram' && !telegram)
      throw wrongInput(
        'channels.telegram is not configured: docs/telegram.md has the ten lines from a new bot to the first task',
      );
    const at = { home: cli.home, env: cli.env };
    const terminal =
      name === 'terminal'
        ? openTerminal({ input: process.stdin, print: cli.out, env: cli.env, end: () => stop.abort() })
        : undefined;
    const channel = terminal?.channel ?? openTelegram(telegram!, at);
    await runChannel({
      ...at,
      channel,
      fleet: await cli.fleet(),
      people: terminal ? { ...peopleOf(config.channels), ...terminal.people } : peopleOf(config.channels),
      say: (sentence) => cli.note(oneLine(sentence)),
      alarm: (sentence) => raiseAlarm(config.alerts, { channel: name, message: sentence, env: cli.env }),
      ready: () => started(cli, name),
      signal: stop.signal,
    });
  },
});

const started = (cli: Cli, name: string): void =>
  cli.note(name === 'terminal' ? 'say /help; Ctrl-D ends' : `channel ${name} is served; Ctrl-C stops`);
