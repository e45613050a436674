/** None of these is a kind of one of the others. */
const ERRORS = [
  'ZeroDivisionError',
  'NotImplementedError',
  'OverflowError',
  'EOFError',
  'BufferError',
  'FloatingPointError',
];
const PARENTS: Record<string, string[]> = {
  ZeroDivisionError: ['ArithmeticError'],
  OverflowError: ['ArithmeticError'],
  FloatingPointError: ['ArithmeticError'],
  NotImplementedError: ['RuntimeError'],
};
/** What is raised in place of one of these is none of those. */
const PLAIN = new Set([
  ...['ValueError', 'TypeError', 'KeyError', 'IndexError', 'LookupError', 'AttributeError', 'RuntimeError'],
  ...['ZeroDivisionError', 'NotImplementedError', 'OverflowError', 'ArithmeticError', 'AssertionError', 'NameError'],
  ...['OSError', 'FileNotFoundError', 'PermissionError', 'UnicodeDecodeError', 'StopIteration', 'ImportError'],
]);
/** Hardly anything raises these: what an error of the project's is a kind of, nobody knows. */
const RARE = ['BufferError', 'FloatingPointError'];

/** Errors that what raises these does not raise. */
export function otherError(names: readonly string[], text: string): string[] {
  const known = names.every((name) => PLAIN.has(name));
  const able = (known ? ERRORS : RARE).filter(
    (error) =>
      !names.includes(error) && !PARENTS[error]?.some((parent) => names.includes(parent)) && !isOwn(error, text),
  );
  return able.length > 0 ? able : RARE;
}

const WARNINGS = ['BytesWarning', 'UnicodeWarning', 'SyntaxWarning', 'ImportWarning'];
const PLAIN_WARNING = /^(Deprecation|PendingDeprecation|User|Future|Runtime|Resource)Warning$/;

export function otherWarning(names: readonly string[], text: string): string[] {
  const some = names.every((name) => PLAIN_WARNING.test(name)) ? WARNINGS : ['BytesWarning', 'UnicodeWarning'];
  const able = some.filter((warning) => !names.includes(warning) && !isOwn(warning, text));
  return able.length > 0 ? able : ['BytesWarning'];
}

/** A name that the file itself gives to something. */
const isOwn = (name: string, text: string): boolean => new RegExp(`(import|class|as)\\b.*\\b${name}\\b`).test(text);
