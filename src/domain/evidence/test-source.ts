/** A replacement in a source; offsets in UTF-16 code units, `end` exclusive. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Turns one expectation wrong. */
export interface Turn {
  edits: Edit[];
  /** What looks as the edits do and changes nothing, for a test that is not turned where others of its file are. */
  neutral?: Edit[];
  /** Every run in which the test passes evaluates it once at least: no branch, loop, callback or early return is around it. */
  sure: boolean;
}

/** A test as the source of a test file declares it. */
export interface DeclaredTest {
  /** Suites and the test, outermost first, as written; null for a part that is computed. */
  name: (string | null)[];
  /** What its runner may call it in the place of the last part. */
  aliases?: string[];
  /** Its runner reports several in its place: parameters, a table, subtests. */
  several: boolean;
  /** The source itself skips it, always or on a condition, or marks it as expected to fail. */
  skipped: boolean;
  turns: Turn[];
  /** Edits that change nothing, for each test of a file that is turned: so it differs from what it was, whether it is turned or not. */
  marks?: Edit[];
}

/** What a parser found in one test file. */
export interface TestSource {
  /** Relative to the checkout. */
  path: string;
  /** The test framework, e.g. `pytest`; null: none that is known, and there are no tests. */
  framework: string | null;
  tests: DeclaredTest[];
  /** Edits that every turned version needs once, e.g. a function that changes a value. Empty where nothing is needed. */
  shared: Edit[];
  /** Why it could not be read; then there are no tests. */
  unread?: 'syntax' | 'too-large' | 'too-slow';
}
