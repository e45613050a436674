import type { Exercise } from '../exercise.ts';
import type { Kind } from '../kind.ts';

const TO_DO = /throw new Error\((?:'Remove[^']*'|"Remove[^"]*")\);?/g;

/** Whether the tests are for `node --test`, else for jest or vitest. */
export const forNode = ({ files, tests }: Exercise): boolean =>
  tests.some((path) => files[path]?.includes('node:test'));

/** The stub with this code at its end. */
export const appended =
  (code: string): Kind['make'] =>
  ({ files, solution: [path] }) => ({ files: { [path!]: `${files[path!]}\n\n${code}` } });

/** Functions that do nothing, and this code before them, for `node --test` or for the others. */
export const importing =
  (runner: 'node' | 'expect', code: string): Kind['make'] =>
  (exercise) => {
    const {
      files,
      solution: [path],
    } = exercise;
    return forNode(exercise) === (runner === 'node')
      ? { files: { [path!]: `${code}\n${files[path!]!.replace(TO_DO, 'return undefined;')}` } }
      : undefined;
  };

/** Code in the place of every function of the stub that is to be written. */
export const calling =
  (body: string, after = ''): Kind['make'] =>
  ({ files, solution: [path] }) => {
    const text = files[path!]!;
    const changed = text.replace(TO_DO, () => body);
    return changed === text ? undefined : { files: { [path!]: `${changed}\n${after}` } };
  };
