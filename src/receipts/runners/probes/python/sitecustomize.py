"""Loaded by each Python that finds this folder in PYTHONPATH: has runs of unittest watched, then gives way to another of this name."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Watch:
    """Finder of modules: changes `unittest.runner` once it is loaded, whoever asks for it."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "unittest.runner":
            return None
        sys.meta_path.remove(cls)
        for finder in sys.meta_path:
            found = getattr(finder, "find_spec", lambda *_: None)(name, path, target)
            if found is not None and hasattr(found.loader, "exec_module"):
                run = found.loader.exec_module
                found.loader.exec_module = lambda module: (run(module), watch(module))
                return found
        return None


def watch(runner):
    try:
        sys.path.insert(0, HERE)
        import fleet_unittest

        fleet_unittest.watch(runner)
    except Exception:
        pass
    finally:
        if HERE in sys.path:
            sys.path.remove(HERE)


def load_next():
    """The one that would be here without this."""
    own = sys.modules.pop("sitecustomize", None)
    before = sys.path[:]
    sys.path[:] = [entry for entry in before if os.path.abspath(entry) != HERE]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if own is not None:
            sys.modules["sitecustomize"] = own
    finally:
        added = [entry for entry in sys.path if entry not in before]
        sys.path[:] = added + before


sys.meta_path.insert(0, Watch)
load_next()
