import { isSeq, parseAllDocuments, type Document } from 'yaml';
import type { Order } from '../../client.ts';
import { wrongInput } from '../../domain/error.ts';
import type { Cli } from '../command.ts';
import { readInput } from './input-file.ts';
import { orderOf } from './task-input.ts';

/** The most bytes of all tasks together, from a file or from stdin. */
export const TASKS_BYTES = 64 * 1024 * 1024;

/** Many tasks: YAML documents, each with the command line's flags laid over it. A document may carry its own `id`. */
export async function ordersFromFile(cli: Cli, file: string, over: Record<string, unknown>): Promise<Order[]> {
  const text = await readInput(cli, file, { maxBytes: TASKS_BYTES, pipes: true });
  const documents = parseAllDocuments(text, { prettyErrors: true });
  if (!Array.isArray(documents) || documents.length === 0) throw wrongInput(`${file} holds no task`);
  return documents.map((document, index) => {
    const at = documents.length > 1 ? `${file}, document ${index + 1}` : file;
    const [error] = document.errors;
    if (error) throw wrongInput(`${file} is no valid YAML: ${error.message.split('\n', 1)[0]?.replace(/:$/, '')}`);
    return orderOf(cli, { value: plainOf(document, at), at, over });
  });
}

/** Aliases of aliases can unfold to more than any memory holds: the parser refuses to. */
function plainOf(document: Document.Parsed, at: string): unknown {
  if (isSeq(document.contents))
    throw wrongInput(`${at}: must be one task, not a list: put --- on a line between tasks`);
  try {
    return document.toJS() as unknown;
  } catch {
    throw wrongInput(`${at}: must not have so many aliases (*name): write out what they stand for`);
  }
}
