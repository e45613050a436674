import type { Node } from '@vscode/tree-sitter-wasm';
import type { Edit } from '../../../domain/evidence/test-source.ts';
import { insert, wrap, type SourceFile, type Turned } from '../shared/nodes.ts';
import { Secret } from '../shared/secret.ts';

/**
 * The function of a file that conditions which lead to a failure are given to. For a number that its key turns, the test ends as failed
 * where the condition does not hold; for any other it gives back what it is given.
 */
export class Negation {
  readonly #secret = new Secret();
  readonly #file: SourceFile;
  readonly #name: string;

  constructor(file: SourceFile) {
    this.#file = file;
    this.#name = file.freshName();
  }

  of(condition: Node, t: string): Required<Turned> {
    const call = (turns: boolean) => wrap(condition, `${this.#name}(${t}, ${this.#secret.number(turns)}, bool(`, '))');
    return { edits: call(true), neutral: call(false) };
  }

  /** It stands in the last line, so that no other line moves. */
  source(): Edit {
    const { text } = this.#file;
    const body = `if n*${this.#secret.key} >= 0 { return is }; if !is { t.FailNow() }; return true`;
    const source = `func ${this.#name}(t interface{ FailNow() }, n int32, is bool) bool { ${body} }`;
    return insert(text.length, text.endsWith('\n') ? source : `\n${source}`);
  }
}
