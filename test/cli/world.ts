import { runCli, type ProcessIo } from '../../src/cli/run.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** The first line of stdout. */
  json(): unknown;
}

/** Runs the command in this process. */
export async function cli(argv: readonly string[], given: Partial<ProcessIo> & { input?: string } = {}): Promise<Ran> {
  let [out, err] = ['', ''];
  const { input = '', ...world } = given;
  const code = await runCli(argv, {
    ...{ cwd: '/', env: {}, stdin: async () => input, onSignal: () => ({ [Symbol.dispose]: () => {} }) },
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    ...world,
  });
  return { code, out, err, json: () => JSON.parse(out.split('\n', 1)[0]!) as unknown };
}
