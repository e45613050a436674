import type { Kind } from '../kind.ts';

/** The stub with this code at its end. */
export const appended =
  (code: string): Kind['make'] =>
  ({ files, solution: [path] }) => ({ files: { [path!]: `${files[path!]}\n\n${code}` } });

/** Code in place of everything public that the stub defines, but for its errors: `body` runs at each call, and may return. */
export const calling = (body: string, before = ''): Kind['make'] =>
  appended(`${before}
def _hit(*_args, **_named):
    ${body}
    return None


for _name, _value in list(globals().items()):
    if callable(_value) and not _name.startswith('_') and getattr(_value, '__module__', '') == __name__:
        if not (isinstance(_value, type) and issubclass(_value, BaseException)):
            globals()[_name] = _hit
`);

/** A test file of the agent's beside the stub as it is. */
export const besideTheStub =
  (path: string, code: string): Kind['make'] =>
  () => ({ files: { [path]: code } });

/** With the stub missing on the base, so that no name of a test is known. */
export const UNKNOWN_NAMES = { base: 'missing' } as const;
