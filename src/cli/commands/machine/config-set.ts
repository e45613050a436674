import { setConfig } from '../../../adapters/state/config-file.ts';
import { wrongInput } from '../../../domain/error.ts';
import { command } from '../../command.ts';

export const configSet = command({
  notes: 'An empty value removes the key. Keys and values are explained in docs/config.md.',
  examples: [
    'fleet config set worker.slots=4',
    'fleet config set worker.queues=fleet,nightly',
    'fleet config set worker.slots=',
  ],
  async run(cli, { args }) {
    const [, key, value] = /^([^=]+)=([^]*)$/.exec(args[0]!) ?? [];
    if (key === undefined || value === undefined) {
      throw wrongInput(`${args[0]} is not key=value, such as worker.slots=4`);
    }
    setConfig({ home: cli.home, key: key.trim(), value });
    cli.print({ key: key.trim(), value }, () =>
      value ? `${key.trim()} is ${value}` : `${key.trim()} is back at its default`,
    );
  },
});
