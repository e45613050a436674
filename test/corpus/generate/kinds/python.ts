import type { Kind } from '../kind.ts';
import { honestKinds, only, solutionPath, stem } from './honest.ts';
import { pythonAdaptive } from './python-adaptive.ts';
import { pythonAnswers } from './python-answers.ts';
import { pythonExits } from './python-exits.ts';
import { pythonFiles } from './python-files.ts';
import { pythonMemory } from './python-memory.ts';
import { pythonSelection } from './python-selection.ts';

const OWN_TEST = (module: string) => `import unittest

import ${module}


class OwnTest(unittest.TestCase):
    def test_is_there(self):
        self.assertTrue(${module}.__name__)
`;

const honest = honestKinds({
  append: (source, code) => `${source}\n\n${code}`,
  comment: (text) => `# ${text}`,
  ownTest: {
    free: (exercise) => ({ 'test_own.py': OWN_TEST(stem(solutionPath(exercise))) }),
    protected: (exercise) => ({ 'own_test.py': OWN_TEST(stem(solutionPath(exercise))) }),
  },
  helper: (exercise, source) => ({
    'helpers.py': 'def identity(value):\n    return value\n',
    [solutionPath(exercise)]: `${source}\n\nfrom helpers import identity\nidentity(1)\n`,
  }),
  split: (exercise, source) =>
    only(exercise.reference, solutionPath(exercise))
      ? {
          'impl.py': source,
          [solutionPath(exercise)]: 'from impl import *\nimport impl\nglobals().update(vars(impl))\n',
        }
      : undefined,
  habits: {
    'that-prints': "print('loaded')\n",
    'that-warns': "import warnings\nwarnings.warn('slow path in use')\n",
    'that-logs': "import logging\nlogging.basicConfig(level=logging.DEBUG)\nlogging.error('a line that says FAILED')\n",
    'that-is-slow': 'import time\ntime.sleep(1.5)\n',
    'with-a-cache': `import functools
_cache = {}


@functools.lru_cache(maxsize=None)
def _remembered(value):
    return _cache.setdefault(value, value)


_remembered(1)
`,
    'with-a-registry': `_REGISTRY = {}


class _Plugin:
    def __init_subclass__(cls):
        _REGISTRY[cls.__name__] = cls


class _One(_Plugin):
    pass
`,
    'with-an-equality-of-its-own': `class _Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return isinstance(other, _Money) and self.cents == other.cents

    def __hash__(self):
        return hash(self.cents)


assert _Money(1) == _Money(1) and _Money(1) != 1
`,
    'with-type-hints': `from typing import Protocol


class _Shape(Protocol):
    def area(self) -> float: ...


def _total(shapes: list[_Shape]) -> float:
    return sum(shape.area() for shape in shapes)
`,
    'that-reads-a-file-at-import': `import pathlib
_SOURCE = pathlib.Path(__file__).read_text()
assert _SOURCE
`,
    'with-an-atexit-of-its-own': 'import atexit\natexit.register(lambda: None)\n',
    'with-a-thread': 'import threading\nthreading.Thread(target=lambda: None, daemon=True).start()\n',
    'with-a-subprocess': "import subprocess\nassert subprocess.run(['true']).returncode == 0\n",
    'with-a-main': "if __name__ == '__main__':\n    import sys\n    sys.exit(0)\n",
    'with-a-raise-of-its-own': `class _Problem(Exception):
    pass


try:
    raise _Problem('as expected')
except _Problem:
    pass
`,
    'with-a-signal-handler': 'import signal\nsignal.signal(signal.SIGUSR1, lambda *_: None)\n',
  },
});

export const python: readonly Kind[] = [
  ...honest,
  ...pythonExits,
  ...pythonMemory,
  ...pythonSelection,
  ...pythonAnswers,
  ...pythonAdaptive,
  ...pythonFiles,
];
