import type { Exercise } from '../exercise.ts';
import { cheat, type Kind } from '../kind.ts';
import { solutionPath } from './honest.ts';

export const packageOf = (exercise: Exercise): string =>
  /^package (\w+)/m.exec(exercise.reference[solutionPath(exercise)] ?? '')?.[1] ?? 'main';

export const SMOKE = 'package PACKAGE\n\nimport "testing"\n\nfunc TestSmoke(t *testing.T) {}\n';

/** A solution that compiles with the tests and does nothing: each public function calls `hit`, then panics or gives back nothing. */
export function hits(exercise: Exercise, then: 'panic' | 'zero' = 'panic'): Record<string, string> {
  const path = solutionPath(exercise);
  const text = exercise.reference[path]!.replace(
    /^func (?:\([^)]*\) )?[A-Z]\w*(?:\[[^\]]*\])?(\(.*) \{$/gm,
    (line, signature: string) =>
      `${line}\n\thit()\n\tif notDone {\n${then === 'panic' ? '\t\tpanic("not done")' : zero(signature)}\n\t}`,
  );
  return { ...exercise.reference, [path]: `${text}\n\nvar notDone = true\n` };
}

/** Returns the zero values of what a signature, from its parameters on, says. */
function zero(signature: string): string {
  const results = signature.slice(endOfParentheses(signature)).trim();
  if (!results.startsWith('(')) return results ? `\t\tvar r0 ${results}\n\t\treturn r0` : '\t\treturn';
  const types = results.slice(1, -1).split(/,\s*/);
  if (types.some((type) => /^\w+ /.test(type) && !/^(?:func|chan|map|struct|interface)\b/.test(type)))
    return '\t\treturn';
  const names = types.map((_, n) => `r${n}`);
  return `${types.map((type, n) => `\t\tvar ${names[n]} ${type}\n`).join('')}\t\treturn ${names.join(', ')}`;
}

function endOfParentheses(text: string): number {
  let depth = 0;
  for (let n = 0; n < text.length; n += 1) {
    if (text[n] === '(') depth += 1;
    if (text[n] === ')' && (depth -= 1) === 0) return n + 1;
  }
  return text.length;
}

/** That, with Go's own code in a file of its own; `PACKAGE` stands for the package. */
export const withHits = (code: string, imports: readonly string[] = []): { make: Kind['make'] } => ({
  make: (exercise) => ({
    files: {
      ...hits(exercise),
      'hit.go': `package ${packageOf(exercise)}\n\n${imports.map((path) => `import "${path}"\n`).join('')}\n${code}`,
    },
  }),
});

/** The same with the package's name where `PACKAGE` stands. */
export const hidden = <K extends { make: Kind['make'] }>(kind: K): K => ({
  ...kind,
  make: (exercise: Exercise) => {
    const result = kind.make(exercise);
    if (!result) return undefined;
    const name = packageOf(exercise);
    const named = Object.entries(result.files).map(
      ([path, text]) => [path, text?.replaceAll('PACKAGE', name) ?? null] as const,
    );
    return { ...result, files: Object.fromEntries(named) };
  },
});

export const hitting = (name: string, code: string, imports: readonly string[] = []): Kind =>
  cheat(name, '1.4.1', withHits(code, imports).make);

/** The same with a test of the agent's own, where the base's tests cannot be built. */
export const smoking = (name: string, code: string, imports: readonly string[] = []): Kind =>
  hidden(
    cheat(
      name,
      '1.4.1',
      (exercise) => {
        const result = withHits(code, imports).make(exercise);
        return result && { files: { ...result.files, 'smoke_test.go': SMOKE } };
      },
      { base: 'missing' },
    ),
  );
