/** One task, or what several are grouped under, as it was written. */
export interface SpecItem {
  /** What others name it by: `T001`, `1.2`; null where it has no name of its own. */
  label: string | null;
  text: string;
  /** What stands below it, without what is said of the task itself. */
  details: string;
  /** Fields of a task that stand below it. */
  fields: Readonly<Record<string, unknown>>;
  /** Beside its neighbours rather than after them. */
  parallel: boolean;
  /** What it says itself that it waits for; null: its place decides. */
  after: readonly string[] | null;
  done: boolean;
  /** `spec.md:12` */
  at: string;
  /** With any it is no task of its own. */
  parts: readonly SpecItem[];
}

/** A heading, with what stands below it: its items first, then its sections. */
export interface SpecSection {
  title: string;
  /** It has a number: it comes after the numbered one before it. */
  numbered: boolean;
  /** What is written there beside the items. */
  prose: string;
  items: readonly SpecItem[];
  sections: readonly SpecSection[];
}
