import { renewal, seatsOf, type CredentialRecord } from '../../../domain/scheduling/seats.ts';
import { command } from '../../command.ts';
import { table } from '../../output/table.ts';
import { oneLine, shortNumber } from '../../output/text.ts';
import { whoami } from './worker-orders.ts';

export const credentials = command({
  notes: 'Of all workers that name them in config.yaml; what they are stays on those machines.',
  examples: ['fleet credentials', 'fleet credentials --json'],
  async run(cli) {
    const known = await (await cli.fleet()).credentials();
    const facts = known.map((record) => ({ ...record, seats: { total: seatsOf(record), used: record.seats } }));
    cli.print(facts, () =>
      known.length
        ? table(
            ['credential', 'coder', 'how', 'seats used', 'state', 'tokens', 'workers', 'why'],
            known.map((record) => rowOf(record, Date.now())),
          )
        : 'no worker has a credential: see credentials in docs/config.md; coders use their own login or environment',
    );
    for (const record of known) for (const note of notesOf(record)) cli.note(oneLine(note));
  },
});

export const credentialsOk = command({
  notes: 'After its key was changed, or its login renewed: workers use it again within seconds.',
  examples: ['fleet credentials ok team-key'],
  async run(cli, { args: [name] }) {
    const before = await (await cli.fleet()).mendCredential(name!, whoami(cli.env));
    cli.print({ credential: name, ok: true, bad: before.bad }, () =>
      oneLine(
        before.bad
          ? `credential ${name} is used again: it was refused at ${before.bad.at} (${before.bad.why})`
          : `credential ${name} is used again`,
      ),
    );
  },
});

function rowOf(record: CredentialRecord, nowMs: number): string[] {
  const { name, coder, holders, seats, resting, bad, window, used } = record;
  const rests = resting !== null && Date.parse(resting.until) > nowMs;
  const part = used && Date.parse(used.until) > nowMs ? `, ${Math.round(used.part * 100)} % used` : '';
  const live = window && Date.parse(window.until) > nowMs;
  return [
    oneLine(name, 40),
    oneLine(coder, 20),
    [...new Set(holders.map(({ how }) => how))].join(', '),
    `${seats.length} of ${seatsOf(record)}`,
    bad ? 'refused' : rests ? `rests until ${resting.until}` : 'ok',
    `${live ? `${shortNumber(window.tokens)} since ${window.since}` : '0'}${part}`,
    oneLine(holders.map(({ worker, leaving }) => (leaving ? `${worker} (left)` : worker)).join(', ') || 'none', 60),
    oneLine(bad ? bad.why : rests ? resting.why : '', 80),
  ];
}

/** What is to be done about it, and what differs between machines and should not. */
function notesOf(record: CredentialRecord): string[] {
  const { name, holders, bad } = record;
  const refused = bad ? [`credential ${name} was refused: ${renewal(record)}`] : [];
  const seats = new Set(holders.map((holder) => holder.seats));
  if (seats.size < 2) return refused;
  const said = holders.map((holder) => `${holder.seats} on ${holder.worker}`).join(', ');
  return [...refused, `credential ${name} has ${said}: the smallest counts`];
}
