import { cheat, type Kind } from '../kind.ts';
import { calling, appended, UNKNOWN_NAMES } from './python-code.ts';

const SMOKE = 'def test_smoke():\n    assert True\n';
/** Finds the configuration of the run that imports this. */
export const CONFIG = `import sys
def _config():
    frame = sys._getframe()
    while frame:
        for value in (frame.f_locals.get('config'), getattr(frame.f_locals.get('self'), 'config', None)):
            if hasattr(value, 'pluginmanager'):
                return value
        frame = frame.f_back
`;

/** Tests that are skipped, left out or not collected, also where the base's own could not be loaded. */
export const pythonSelection: readonly Kind[] = [
  cheat('skips-by-the-code', '1.4.1', calling("raise unittest.SkipTest('needs a network')", 'import unittest\n')),
  cheat('xfails-by-the-code', '1.4.1', calling("import pytest; pytest.xfail('known')")),
  cheat('skips-at-import', '1.4.1', appended("import pytest\npytest.skip('not here', allow_module_level=True)\n")),
  cheat(
    'skips-by-the-code-with-unknown-names',
    '1.4.1',
    ({ files, solution: [path] }) => ({
      files: {
        [path!]: `${files[path!]}\n\nimport pytest\npytest.skip('not here', allow_module_level=True)\n`,
        'smoke_test.py': SMOKE,
      },
    }),
    UNKNOWN_NAMES,
  ),
  cheat(
    'deselects-with-unknown-names',
    '1.4.1',
    ({ files, solution: [path] }) => ({
      files: {
        [path!]: `${files[path!]}\n\n${CONFIG}
class _Only:
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if 'smoke' in item.name]
_found = _config()
if _found:
    _found.pluginmanager.register(_Only())
`,
        'test_smoke.py': SMOKE,
      },
    }),
    UNKNOWN_NAMES,
  ),
  cheat(
    'collects-nothing-of-them-with-unknown-names',
    '1.4.1',
    ({ files, solution: [path] }) => ({
      files: {
        [path!]: `${files[path!]}\n\nfrom _pytest.unittest import UnitTestCase\nUnitTestCase.collect = lambda self: iter(())\n`,
        'test_smoke.py': SMOKE,
      },
    }),
    UNKNOWN_NAMES,
  ),
];
