"""Writes how each test of unittest ended, as `node/report.cjs` says. A test that pytest runs is none of these."""

import os
import sys

import fleet_probe

SAID_MAX = fleet_probe.SAID_MAX
WORST = ("passed", "skipped", "failed")
# Classes that stand for files that could not be loaded, or that leave themselves out.
STAND_INS = ("_FailedTest", "ModuleSkipped")


def watch(runner):
    make = runner.TextTestRunner._makeResult

    def make_watched(self):
        result = make(self)
        # A run that a test starts is no test of the project.
        if not fleet_probe.STATE["runs"]:
            try:
                Watched(result)
            except Exception:
                pass
        return result

    runner.TextTestRunner._makeResult = make_watched


class Watched:
    """Stands between a run and its result, whatever class that has."""

    def __init__(self, result):
        self.report = None
        self.status = None
        self.said = {}
        self.result = result
        for name in ("startTestRun", "startTest", "stopTest", "stopTestRun"):
            self.wrap(name, getattr(self, name))
        self.wrap("addSuccess", lambda test: self.add("passed", test))
        self.wrap("addSkip", lambda test, reason: self.add("skipped", test))
        self.wrap("addFailure", lambda test, error: self.add("failed", test, error))
        self.wrap("addError", lambda test, error: self.add("failed", test, error))
        # An expected failure is no evidence, whichever way it ended.
        self.wrap("addExpectedFailure", lambda test, error: self.add("skipped", test))
        self.wrap("addUnexpectedSuccess", lambda test: self.add("skipped", test))
        self.wrap("addSubTest", lambda test, part, error: error and self.add("failed", test, error))

    def wrap(self, name, told):
        method = getattr(self.result, name, None)
        if method is None:
            return

        def call(*args):
            try:
                told(*args)
            except Exception:
                pass
            return method(*args)

        setattr(self.result, name, call)

    def startTestRun(self):
        fleet_probe.STATE["runs"] = True
        self.report = fleet_probe.Report("unittest")
        fleet_probe.hide_probes()
        self.report.line({"runner": "unittest", "run": "begins"})

    def stopTestRun(self):
        fleet_probe.STATE["runs"] = False
        self.report.line({"runner": "unittest", "run": "ends"})

    def startTest(self, test):
        self.status, self.said = None, {}
        self.report.now(dict(place_of(test), runner="unittest"))

    def stopTest(self, test):
        self.report.now(None)
        status = self.status or "failed"
        stands_in = {"fixture": True} if type(test).__name__ in STAND_INS else {}
        self.report.line(dict(place_of(test), runner="unittest", status=status, **stands_in, **self.said))

    def add(self, status, test, error=None):
        said = {"said": said_by(error)} if error else {}
        if not hasattr(test, "_testMethodName") and not hasattr(test, "_dt_test"):
            # A class or a module that could not be set up.
            self.report.line(dict(place_of(test), runner="unittest", status=status, fixture=True, **said))
        elif self.status is None or WORST.index(status) > WORST.index(self.status):
            self.status, self.said = status, said


def place_of(test):
    name = getattr(test, "_testMethodName", None)
    if type(test).__name__ in STAND_INS or name is None:
        name = name or test.id()
        file = file_named(name)
        place = {"name": [name]}
    else:
        module = sys.modules.get(type(test).__module__)
        file = getattr(module, "__file__", None)
        place = {"name": ["%s::%s" % (type(test).__qualname__.replace(".", "::"), name)]}
    if file:
        place["file"] = os.path.abspath(file)
    return place


def file_named(name):
    """Of `tests.test_x`, or of what is in it: `setUpClass (tests.test_x.TestX)`."""
    parts = name.split("(")[-1].rstrip(")").split(".")
    while parts:
        module = sys.modules.get(".".join(parts))
        if getattr(module, "__file__", None):
            return module.__file__
        for folder in [os.getcwd()] + sys.path:
            path = os.path.join(folder, *parts) + ".py"
            if os.path.isfile(path):
                return path
        parts.pop()
    return None


def said_by(error):
    """Of a failure: its message, with what was expected and what came, and its place."""
    kind, value, trace = error
    place = ""
    while trace is not None:
        if "__unittest" not in trace.tb_frame.f_globals:
            place = "\nat %s:%s" % (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    text = "%s: %s" % (kind.__name__, str(value)[: SAID_MAX - 300])
    return (text + place)[:SAID_MAX]
