import { Command as Program, CommanderError, Option } from 'commander';
import type { Fleet } from '../client.ts';
import { FleetError, wrongInput } from '../domain/error.ts';
import { VERSION } from '../package.ts';
import { InvalidValue, type Cli, type Command, type Flag } from './command.ts';
import { COMMANDS, type Entry } from './commands.ts';
import { asFleetError, endedWell } from './errors.ts';
import { loadCommand } from './load-command.ts';
import { clean, toJson } from './output/text.ts';
import { usageOf } from './usage.ts';

/** What the process brings; tests bring their own. */
export interface ProcessIo {
  cwd: string;
  env: NodeJS.ProcessEnv;
  stdout: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  stderr: { write(text: string): unknown };
  /** All of it; with `maxBytes` no more than what shows that it is longer. */
  stdin(maxBytes?: number): Promise<string>;
  /** Missing: nobody sits at a terminal. */
  ask?: ((question: string) => Promise<string>) | undefined;
  onSignal(listener: (signal: NodeJS.Signals) => void): Disposable;
}

/** Runs one command line, without the program's name; gives the exit code and never throws. */
export async function runCli(argv: readonly string[], world: ProcessIo): Promise<number> {
  const ends: (() => Promise<void>)[] = [];
  let code = 0;
  try {
    const words = spread(argv);
    const entry = COMMANDS.find(({ name }) => name === words[0]);
    const named = entry && { entry, command: await loadCommand(entry.name) };
    const program = programOf(world, named, async (it, given, json) => {
      code = (await it.run(await cliOf(world, json, ends), given)) ?? 0;
    });
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!endedWell(error)) {
      const failure = asFleetError((await troubleOf(error, world.env)) ?? error);
      code = failure.exitCode;
      if (failure.message) world.stderr.write(`${wantsJson(argv) ? jsonOf(failure) : sentenceOf(failure)}\n`);
    }
    if (world.env['FLEET_DEBUG'] === '1' && error instanceof Error) world.stderr.write(`${error.stack}\n`);
  }
  for (const end of ends) await end().catch(() => undefined);
  return code;
}

/** Also where the command line itself is wrong. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}

const jsonOf = ({ code, message, hint }: FleetError): string => toJson({ error: { code, message, hint } });

const sentenceOf = ({ message, hint }: FleetError): string =>
  [`fleet: ${clean(message)}`, ...(hint ? [`  ${clean(hint)}`] : [])].join('\n');

/** What a server that fails has to do with it: loaded only then. */
async function troubleOf(error: unknown, env: NodeJS.ProcessEnv): Promise<FleetError | undefined> {
  if (error instanceof FleetError || error instanceof CommanderError) return undefined;
  const { serverTrouble } = await import('../adapters/temporal/server-errors.ts');
  return serverTrouble(error, env).catch(() => undefined);
}

interface Named {
  entry: Entry;
  command: Command;
}
type Dispatch = (it: Command, given: { args: string[]; flags: Record<string, never> }, json: boolean) => Promise<void>;

/** All commands by name; the one that is named with all that it takes. */
function programOf(world: ProcessIo, named: Named | undefined, dispatch: Dispatch): Program {
  const program = new Program('fleet')
    .description('Drains a queue of coding tasks with real agent CLIs, and says done only on evidence.')
    .version(VERSION, '-V, --version')
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp({ subcommandTerm: (made) => `${made.name()} ${made.usage()}`.trim() })
    .configureOutput({
      writeOut: (text) => world.stdout.write(text),
      writeErr: (text) => world.stderr.write(text),
      outputError: () => {},
    })
    .addHelpText('after', `\nFirst steps:\n  fleet up\n  fleet run 'Add a /health endpoint' --verify 'npm test'`);
  for (const entry of COMMANDS) {
    const made = program
      .createCommand(entry.name)
      .description(entry.about)
      .usage(entry.args ?? ' ');
    if (entry === named?.entry) complete(made.copyInheritedSettings(program), named, dispatch);
    program.addCommand(made, { hidden: entry.name.startsWith('task ') });
  }
  return program;
}

/** `task log` is typed `task <id> log`. */
const isAction = ({ name }: Entry): boolean => name.includes(' ');
const ACTIONS = new Set<string>(COMMANDS.filter(isAction).map(({ name }) => name));

/** Brings `task <id> log …` and `config set …` into the form that commander knows: one name, then its arguments. */
export function spread(argv: readonly string[]): string[] {
  const [group, ...rest] = argv;
  const words = rest.flatMap((word, index) => (word.startsWith('-') ? [] : index)).slice(0, 2);
  // `config set` names the action first, `task <id> log` second. What follows a flag may be its value: `worker --name drain`.
  for (const at of words) {
    const name = `${group} ${rest[at]}`;
    const first = rest.slice(0, at).every((word) => word === '--json');
    if (ACTIONS.has(name) && (group === 'task' ? at === words[1] : first)) return [name, ...rest.toSpliced(at, 1)];
  }
  return [...argv];
}

function complete(made: Program, { entry, command }: Named, dispatch: Dispatch): void {
  made.configureHelp({ commandUsage: () => `fleet ${usageOf(entry)} [options]` });
  if (entry.args) made.arguments(entry.args);
  for (const flag of command.flags ?? []) made.addOption(optionOf(flag));
  made.option('--json', 'machine output on stdout');
  const examples = command.examples.map((example) => `  ${example}`).join('\n');
  made.addHelpText('after', `${command.notes ? `\n${command.notes}\n` : ''}\nExamples:\n${examples}`);
  made.action(async () => {
    const { json = false, ...flags } = made.opts<{ json?: boolean } & Record<string, never>>();
    await dispatch(command, { args: made.args, flags: flags as Record<string, never> }, json);
  });
}

function optionOf({ flag, about, many, parse = String }: Flag): Option {
  const option = new Option(flag, about);
  if (!flag.includes('<')) return option;
  const [name] = flag.split(' ');
  const one = (text: string): unknown => {
    const value = parse(text);
    if (value instanceof InvalidValue) throw wrongInput(`${name} ${value.must}, not ${JSON.stringify(text)}`);
    return value;
  };
  return option.argParser((text: string, before: unknown) =>
    many ? [...((before as unknown[] | undefined) ?? []), one(text)] : one(text),
  );
}

async function cliOf(world: ProcessIo, json: boolean, ends: (() => Promise<void>)[]): Promise<Cli> {
  const { env, cwd, stdout, stderr } = world;
  const { loadConfig, resolveHome } = await import('../config.ts');
  const home = resolveHome(env);
  const config = (flags = {}) => loadConfig({ home, env, flags });
  const out = (text: string) => void stdout.write(`${text}\n`);
  let fleet: Promise<Fleet> | undefined;
  const connect = async (): Promise<Fleet> => {
    const { connectFleet } = await import('../client.ts');
    const connected = await connectFleet({ env, config: config() });
    ends.push(connected.close);
    return connected;
  };
  return {
    ...{ cwd, env, home, json, config, out },
    tty: Boolean(stdout.isTTY),
    width: stdout.columns ?? 120,
    raw: (text) => void stdout.write(text),
    note: (text) => void stderr.write(`${text}\n`),
    print: (value, human) => out(json ? toJson(value) : human()),
    stdin: world.stdin,
    agreed: async (question) => (json ? undefined : await world.ask?.(question))?.trim().toLowerCase().startsWith('y'),
    onSignal: world.onSignal,
    fleet: () => (fleet ??= connect()),
  };
}
