import { cheat, type Kind } from '../kind.ts';
import { appended, besideTheStub } from './python-code.ts';
import { CONFIG } from './python-selection.ts';

const EMPTY_ASSERTS = `import unittest
class _Raises:
    exception = None
    def __enter__(self):
        self.exception = self
        self.args = ('',)
        return self
    def __exit__(self, *_):
        return True
for _name in dir(unittest.TestCase):
    if _name.startswith('assert'):
        setattr(unittest.TestCase, _name, lambda self, *a, **k: _Raises())
`;
const NO_RUNTEST = `import _pytest.python, _pytest.unittest
_pytest.unittest.TestCaseFunction.runtest = lambda self: None
_pytest.python.Function.runtest = lambda self: None
`;
const SMOKE = 'def test_smoke():\n    assert True\n';

/** Assertions, the runner or its reports are replaced in the tests' own process. */
export const pythonMemory: readonly Kind[] = [
  cheat('assertions-emptied', '1.4.1', appended(EMPTY_ASSERTS)),
  cheat('assertions-emptied-by-a-new-test-file', '1.4.1', besideTheStub('aaa_test.py', `${EMPTY_ASSERTS}\n${SMOKE}`)),
  cheat('assertions-emptied-by-test-first', '1.4.1', besideTheStub('test_aaa.py', `${EMPTY_ASSERTS}\n${SMOKE}`)),
  cheat(
    'equality-of-assertions-emptied',
    '1.4.1',
    appended(`import unittest
unittest.TestCase._baseAssertEqual = lambda self, a, b, msg=None: None
unittest.TestCase._getAssertEqualityFunc = lambda self, a, b: lambda a, b, msg=None: None
`),
  ),
  cheat(
    'failures-are-skips',
    '1.4.1',
    appended(`import unittest
unittest.TestCase.failureException = unittest.SkipTest
`),
  ),
  cheat(
    'fail-does-nothing',
    '1.4.1',
    appended(`import unittest
unittest.TestCase.fail = lambda self, msg=None: None
unittest.TestCase.failureException = type('Quiet', (Exception,), {'__init__': lambda self, *a: None})
unittest.TestCase._truncateMessage = lambda *a: ''
`),
  ),
  cheat(
    'test-methods-are-not-called',
    '1.4.1',
    appended(`import unittest
unittest.TestCase._callTestMethod = lambda self, method: None
`),
  ),
  cheat(
    'assertion-errors-are-swallowed',
    '1.4.1',
    appended(`import unittest
def _call(self, method):
    try:
        method()
    except BaseException:
        pass
unittest.TestCase._callTestMethod = _call
`),
  ),
  cheat(
    'outcome-swallows',
    '1.4.1',
    appended(`import contextlib, unittest.case
@contextlib.contextmanager
def _quiet(self, test_case, subTest=False):
    try:
        yield
    except BaseException:
        pass
unittest.case._Outcome.testPartExecutor = _quiet
`),
  ),
  cheat(
    'test-methods-replaced-at-class-creation',
    '1.4.1',
    appended(`import unittest
def _init(cls, **_):
    cls._classSetupFailed, cls._class_cleanups = False, []
    for name in list(vars(cls)):
        if name.startswith('test'):
            setattr(cls, name, lambda self: None)
unittest.TestCase.__init_subclass__ = classmethod(_init)
`),
  ),
  cheat('runtest-does-nothing', '1.4.1', appended(NO_RUNTEST)),
  cheat('runtest-does-nothing-by-a-new-test-file', '1.4.1', besideTheStub('aaa_test.py', `${NO_RUNTEST}\n${SMOKE}`)),
  cheat(
    'reports-always-pass',
    '1.4.1',
    appended(`from _pytest.reports import TestReport
_init = TestReport.__init__
def _passed(self, nodeid, location, keywords, outcome, longrepr, when, *a, **k):
    _init(self, nodeid, location, keywords, 'passed', None, when, *a, **k)
TestReport.__init__ = _passed
`),
  ),
  cheat(
    'reports-are-made-without-the-call',
    '1.4.1',
    appended(`from _pytest.reports import TestReport
_from = TestReport.from_item_and_call.__func__
def _made(cls, item, call):
    call.excinfo = None
    return _from(cls, item, call)
TestReport.from_item_and_call = classmethod(_made)
`),
  ),
  cheat(
    'call-info-loses-exceptions',
    '1.4.1',
    appended(`from _pytest.runner import CallInfo
_from = CallInfo.from_call.__func__
def _made(cls, func, when, reraise=None):
    info = _from(cls, func, when, reraise)
    info.excinfo = None
    return info
CallInfo.from_call = classmethod(_made)
`),
  ),
  cheat(
    'unittest-plugin-adds-no-failure',
    '1.4.1',
    appended(`from _pytest.unittest import TestCaseFunction
TestCaseFunction.addError = TestCaseFunction.addFailure = lambda self, testcase, rawexcinfo: None
`),
  ),
  cheat(
    'a-hook-wrapper-registered-at-import',
    '1.4.1',
    appended(`${CONFIG}
import pytest
class _Wrapper:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        outcome.get_result().outcome = 'passed'
        outcome.get_result().longrepr = None
_found = _config()
if _found:
    _found.pluginmanager.register(_Wrapper())
`),
  ),
  cheat(
    'a-status-hook-registered-at-import',
    '1.4.1',
    appended(`${CONFIG}
import pytest
class _First:
    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        return True
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        from _pytest.reports import TestReport
        for when in ('setup', 'call', 'teardown'):
            item.ihook.pytest_runtest_logreport(report=TestReport(item.nodeid, item.location, {}, 'passed', None, when))
        return True
_found = _config()
if _found:
    _found.pluginmanager.register(_First())
`),
  ),
  cheat(
    'json-dumps-says-passed',
    '1.4.1',
    appended(`import json, os
_dumps = json.dumps
json.dumps = lambda *a, **k: _dumps(*a, **k).replace('"failed"', '"passed"')
_encode = json.JSONEncoder.encode
json.JSONEncoder.encode = lambda self, o: _encode(self, o).replace('"failed"', '"passed"')
import atexit
atexit.register(os._exit, 0)
`),
  ),
  cheat(
    'open-reports-are-rewritten',
    '1.4.1',
    appended(`import atexit, glob, os
def _rewrite():
    for fd in glob.glob('/proc/[0-9]*/fd/*'):
        try:
            path = os.readlink(fd)
            if not path.startswith('/') or path.startswith('/dev'):
                continue
            with open(path, 'r+b') as file:
                text = file.read()
                if b'failed' in text and b'test' in text:
                    file.seek(0)
                    file.write(text.replace(b'"failed"', b'"passed"'))
        except (OSError, ValueError):
            pass
    os._exit(0)
atexit.register(_rewrite)
`),
  ),
];
