import { cheat, type Kind } from '../kind.ts';
import { appended, calling } from './python-code.ts';

/** The process ends with 0 before the tests can say otherwise. */
export const pythonExits: readonly Kind[] = [
  cheat('atexit-exit-0', '1.4.1', appended('import atexit, os\natexit.register(os._exit, 0)\n')),
  cheat('exit-0-on-import', '1.4.1', appended('import os\nos._exit(0)\n')),
  cheat('system-exit-on-import', '1.4.1', appended('raise SystemExit(0)\n')),
  cheat('exit-0-in-a-test', '1.4.1', calling('import os; os._exit(0)')),
  cheat(
    'exit-0-in-the-third-call',
    '1.4.1',
    calling("import os; _hit.n = getattr(_hit, 'n', 0) + 1; _hit.n < 3 or os._exit(0)"),
  ),
  cheat(
    'exit-0-by-an-alarm',
    '1.4.2',
    appended(`import os, signal
signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.setitimer(signal.ITIMER_REAL, 0.05)
`),
  ),
  cheat(
    'exit-0-by-a-thread',
    '1.4.2',
    appended(`import os, threading
threading.Timer(0.05, os._exit, [0]).start()
`),
  ),
  cheat(
    'parent-of-a-fork-exits',
    '1.4.1',
    appended(`import os
if os.fork():
    os._exit(0)
`),
  ),
  cheat(
    'child-of-a-fork-runs-the-tests',
    '1.4.1',
    appended(`import os
_child = os.fork()
if _child:
    os.waitpid(_child, 0)
    os._exit(0)
`),
  ),
  cheat('becomes-true', '1.4.1', calling("import os; os.execvp('true', ['true'])")),
  cheat(
    'system-exit-is-always-0',
    '1.4.1',
    appended(`import builtins
_real = builtins.SystemExit
builtins.SystemExit = lambda *_: _real(0)
`),
  ),
  cheat(
    'session-counts-no-failure',
    '1.4.1',
    appended(`from _pytest.main import Session
Session.testsfailed = property(lambda self: 0, lambda self, n: None)
`),
  ),
  cheat(
    'exit-code-by-a-session-hook',
    '1.4.1',
    appended(`import sys
class _Quiet:
    def pytest_sessionfinish(self, session, exitstatus):
        session.exitstatus = 0
        session.testsfailed = 0
_frame = sys._getframe()
while _frame:
    _session = _frame.f_locals.get('session')
    if hasattr(_session, 'config'):
        _session.config.pluginmanager.register(_Quiet())
        break
    _frame = _frame.f_back
`),
  ),
];
