import { Worker } from 'node:worker_threads';
import { builtFile } from '../../package.ts';

/** What has to hold of each file, or text. */
export interface TextCheck {
  files?: { path: string; name: string }[];
  /** Only to see how the expression's time grows with them: each a begin, and a unit that is repeated. */
  stalling?: { begin: string; unit: string }[];
  /** A regular expression, with its flags. */
  matches?: string | undefined;
  flags?: string;
  /** A JSON Schema of draft 2020-12. */
  schema?: object | undefined;
  /** Texts that it has to quote. */
  sources?: string[] | undefined;
}

const HEAP_MB = 512;

const SENTENCE_MAX = 300;

/** What is said is kept in histories: a file may have a name, or a key, of megabytes. */
export const clip = (text: string): string => (text.length > SENTENCE_MAX ? `${text.slice(0, SENTENCE_MAX)}…` : text);

/** What the thread says once it has loaded what it needs: its time begins. */
export const READY = 'ready';

/**
 * In a thread of its own, which is ended `timeoutMs` after it has begun: what is wrong, a sentence each that begins with the file's
 * name, five of 300 characters at most; `timed-out`; or why the rule itself cannot be applied.
 */
export async function checkTexts(
  check: TextCheck,
  timeoutMs: number,
): Promise<{ problems: string[] } | { failed: 'timed-out' } | { failed: 'rule'; why: string }> {
  const thread = new Worker(builtFile('adapters/artifacts/main.js'), {
    workerData: check,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve) => {
      thread.on('message', (said: typeof READY | string[]) => {
        if (said === READY) timer = setTimeout(() => resolve({ failed: 'timed-out' }), timeoutMs);
        else resolve({ problems: said });
      });
      thread.once('error', (error) => resolve({ failed: 'rule', why: clip(error.message.split('\n', 1)[0]!) }));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
