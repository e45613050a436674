import { wrongInput } from '../error.ts';
import type { PlannedTask } from './plan.ts';

/** A spec that an agent writes: what it is told, where it leaves it, and what it may say. */

/** The artifact of such a task. */
export const PROPOSED_SPEC = 'fleet-plan.md';

/** The objective of the task that turns prose into a spec with tasks. */
export const proposeObjective = (about: { file: string; text: string }): string =>
  `Break the specification below into tasks for coding agents, and write them to ${PROPOSED_SPEC}. Look at the repository where there is one; change nothing else.

The form of ${PROPOSED_SPEC}:

- One item with an open checkbox for each task, e.g. \`- [ ] T001 Add the table of users in db/schema.sql\`. Number them T001, T002, … in the order in which they can be done.
- A task is what one agent can do by itself in one sitting, and what a command can check. Its text says what to do and in which files, so that somebody who sees nothing else of this can do it.
- Tasks come one after the other. One marked [P] behind its number, \`- [ ] T002 [P] …\`, is done beside the [P] tasks next to it: only where they touch different files.
- \`(after: T001, T003)\` at the end of a line says what a task waits for, where it is not simply the one before it.
- Numbered headings, \`## Phase 1: …\`, group tasks; a phase begins when the one before it is done.
- Below a task, indented: \`- verify: <command>\` for what must pass in the end, and further bullets with details, each beginning with a capital letter. Set no other fields of tasks: these are set by a person.

The specification (${about.file}):

${about.text}`;

const TEXT = ['title', 'objective', 'context', 'dependsOn'];
const MAY_SET = ['verify', 'artifacts', 'labels'];

/** Rights, accounts and places are the person's to give, who may not read all of it. @throws FleetError (2) with file and line */
export function checkProposed(tasks: readonly PlannedTask[]): void {
  for (const { at, fields } of tasks) {
    const set = Object.keys(fields).filter((field) => !TEXT.includes(field));
    const field = set.find((one) => !MAY_SET.includes(one)) ?? besideCommands(fields['verify']);
    if (field !== undefined)
      throw wrongInput(
        `${at}: ${field} is set, and a spec that an agent has written may only set ${MAY_SET.join(', ')} and what comes first: give the rest by flags`,
      );
  }
}

/** A bare list is short for the commands. */
function besideCommands(verify: unknown): string | undefined {
  if (typeof verify !== 'object' || verify === null || Array.isArray(verify)) return undefined;
  const other = Object.keys(verify).find((key) => key !== 'commands');
  return other && `verify.${other}`;
}
