"""Plugin of pytest, found through PYTHONPATH: writes how each test ended, as `node/report.cjs` says.

Where a command sets PYTHONPATH itself, pytest runs without it rather than not at all.
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HOME = os.path.dirname(os.path.dirname(HERE))
# Kept here, so that code under test that replaces these functions changes no report.
dumps, write = json.dumps, os.write
SAID_MAX = 4000
NOW_BYTES = 4096
pwrite = os.pwrite


def hide_probes():
    """A test run that a test starts is no test of the project."""
    sys.path[:] = [entry for entry in sys.path if entry != HERE]
    with open(os.path.join(HOME, "settings")) as file:
        preload, reporter = file.readline().rstrip("\n"), file.readline().rstrip("\n")
    for key, value in list(os.environ.items()):
        if key in ("PATH", "PYTHONPATH"):
            value = ":".join(entry for entry in value.split(":") if not entry.startswith(HOME))
        elif key == "NODE_OPTIONS":
            value = value.replace(preload, "").replace(reporter, "").strip()
        elif value.startswith(HOME):
            value = ""
        if value:
            os.environ[key] = value
        else:
            del os.environ[key]


# Whether tests run in this process: a run that one of them starts is no test of the project.
STATE = {"runs": False}


class Report:
    """The file that a run of `runner` reports to, and beside it what runs right now."""

    def __init__(self, runner):
        name = "%s-%d-%s" % (runner, os.getpid(), os.urandom(6).hex())
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self.file = os.open(os.path.join(HOME, "reports", name + ".jsonl"), flags, 0o600)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        self.running = os.open(os.path.join(HOME, "reports", name + ".now"), flags, 0o600)
        self.line({"runner": runner})

    def line(self, value):
        try:
            write(self.file, (dumps(value) + "\n").encode())
        except OSError:
            pass

    def now(self, value):
        """The test that runs, None for none: one that is too long to be kept whole is kept not at all."""
        text = b"" if value is None else dumps(value).encode()
        try:
            if len(text) <= NOW_BYTES:
                pwrite(self.running, text.ljust(NOW_BYTES), 0)
        except OSError:
            pass


class Reporter(Report):
    def __init__(self, config):
        self.told = set()
        self.root = str(getattr(config, "rootpath", None) or config.rootdir)
        self.worst = {}
        self.said = {}
        super().__init__("pytest")

    def pytest_runtest_logstart(self, nodeid):
        file, _, name = nodeid.partition("::")
        self.now({"runner": "pytest", "name": [name], "file": os.path.join(self.root, file)})

    def pytest_runtest_logfinish(self):
        self.now(None)

    def pytest_sessionstart(self):
        self.line({"runner": "pytest", "run": "begins"})

    def pytest_unconfigure(self):
        self.line({"runner": "pytest", "run": "ends"})

    def pytest_collectreport(self, report):
        """A file that could not be imported, or that leaves itself out, stands for its tests."""
        if report.outcome != "passed" and report.nodeid:
            file, _, name = report.nodeid.partition("::")
            place = {"name": [name or file], "file": os.path.join(self.root, file)}
            self.line(dict(place, runner="pytest", status=report.outcome, fixture=True, **said_by(report)))

    def pytest_runtest_logreport(self, report):
        """Set-up, call and tear-down of a test come one by one; what is written is the worst of the three."""
        before = self.worst.get(report.nodeid)
        now = status_of(report)
        if before != "failed" and now is not None and not (before == "skipped" and now == "passed"):
            self.worst[report.nodeid] = now
            self.said[report.nodeid] = said_by(report)
        if report.when == "teardown":
            file, _, name = report.nodeid.partition("::")
            status = self.worst.pop(report.nodeid, "failed")
            place = {"name": [name], "file": os.path.join(self.root, file)}
            self.line(dict(place, runner="pytest", status=status, **self.said.pop(report.nodeid, {})))
            changed = [name for name in changed_names() if name not in self.told]
            self.told.update(changed)
            if changed:
                self.line({"runner": "pytest", "changed": changed})


def kept_functions():
    """What decides how a test ends, by name: owner, attribute, and what it is before the project's first module is loaded."""
    import unittest

    import _pytest.python
    import _pytest.reports
    import _pytest.runner
    import _pytest.unittest

    case = unittest.TestCase
    own = [name for name in vars(case) if name.startswith("assert") or name in ("run", "fail", "_callTestMethod", "_baseAssertEqual")]
    places = [(case, name) for name in own] + [
        (_pytest.runner, "call_runtest_hook"),
        (_pytest.runner, "call_and_report"),
        (_pytest.runner, "runtestprotocol"),
        (_pytest.runner, "pytest_runtest_call"),
        (_pytest.runner, "pytest_runtest_makereport"),
        (_pytest.runner.CallInfo, "from_call"),
        (_pytest.reports.TestReport, "from_item_and_call"),
        (_pytest.python.Function, "runtest"),
        (_pytest.unittest.TestCaseFunction, "runtest"),
    ]
    return [(owner, name, *now_at(owner, name)) for owner, name in places]


def now_at(owner, name):
    """A function's code is told apart as well: it may be another one in the same function."""
    function = vars(owner).get(name)
    function = getattr(function, "__func__", function)
    return function, getattr(function, "__code__", None)


def changed_names():
    found = []
    for owner, name, function, code in KEPT:
        now, its_code = now_at(owner, name)
        if now is not function or its_code is not code:
            found.append("%s.%s" % (owner.__name__, name))
    return found


KEPT = []


def pytest_load_initial_conftests():
    """Before the first conftest: nothing of the project's has run."""
    try:
        KEPT[:] = kept_functions()
    except Exception:
        pass


def said_by(report):
    """Of a failure: its message, with what was expected and what came, and its place."""
    if report.outcome != "failed":
        return {}
    try:
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is None:
            return {"said": str(report.longrepr)[-SAID_MAX:]}
        return {"said": ("%s\nat %s:%s" % (crash.message[: SAID_MAX - 300], crash.path, crash.lineno))[:SAID_MAX]}
    except Exception:
        return {}


def status_of(report):
    """None: says nothing, as a set-up that passed. An expected failure is no evidence, whichever way it ended."""
    if report.outcome == "failed":
        return "failed"
    if hasattr(report, "wasxfail") or report.outcome == "skipped":
        return "skipped"
    return "passed" if report.when == "call" and report.outcome == "passed" else None


def pytest_configure(config):
    STATE["runs"] = True
    # The workers of xdist report to the process that started them.
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        config.pluginmanager.register(Reporter(config), "fleet_reporter")
    hide_probes()
