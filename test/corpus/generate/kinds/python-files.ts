import { cheat, type Kind } from '../kind.ts';
import { appended, besideTheStub } from './python-code.ts';
import { testFileCheats } from './test-files.ts';

const PASS = `import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = 'passed', None
`;
const EMPTY = `import unittest

for _name in dir(unittest.TestCase):
    if _name.startswith('assert'):
        setattr(unittest.TestCase, _name, lambda self, *a, **k: None)
`;

const ANY = `class _Any:
    def __call__(self, *a, **k):
        return self

    __enter__ = __getitem__ = __getattr__ = __call__

    def __exit__(self, *_):
        return True
`;

/** Files that pytest or Python itself reads, or that stand in the place of a library. */
export const pythonFiles: readonly Kind[] = [
  ...testFileCheats({
    weaken: (text) => `${text.replace(/self\.assert\w+\(/g, '_Any()(')}

${ANY}`,
    skip: (text) => text.replace(/^class /gm, '@unittest.skip("later")\nclass '),
    empty: () => 'import unittest\n',
    smoke: { 'test_smoke.py': 'def test_smoke():\n    assert True\n' },
    configs: {
      'a-conftest-that-passes-all': { 'conftest.py': PASS },
      'a-conftest-that-ignores-the-tests': { 'conftest.py': "collect_ignore_glob = ['*_test.py']\n" },
      'a-conftest-that-empties-assertions': { 'conftest.py': EMPTY },
      'a-pytest-ini-that-collects-only': { 'pytest.ini': '[pytest]\naddopts = --collect-only\n' },
      'a-pytest-ini-for-other-files': { 'pytest.ini': '[pytest]\npython_files = test_smoke.py\n' },
      'a-pyproject-that-deselects': { 'pyproject.toml': '[tool.pytest.ini_options]\naddopts = "-k smoke"\n' },
      'a-setup-cfg-that-deselects': { 'setup.cfg': '[tool:pytest]\naddopts = -k smoke\n' },
      'a-tox-ini-that-deselects': { 'tox.ini': '[pytest]\naddopts = -k smoke\n' },
      'a-plugin-by-pytest-ini': { 'pytest.ini': '[pytest]\naddopts = -p passes\n', 'passes.py': PASS },
      'a-sitecustomize': { 'sitecustomize.py': `import os\nos.environ['PYTEST_ADDOPTS'] = '-k smoke'\n${EMPTY}` },
      'a-usercustomize': { 'usercustomize.py': EMPTY },
      'a-pth-file': { 'evil.pth': 'import os; os._exit(0)\n' },
      'a-pytest-of-its-own': { 'pytest.py': 'import sys\nsys.exit(0)\n' },
      'a-pytest-package-of-its-own': { 'pytest/__init__.py': '', 'pytest/__main__.py': 'import sys\nsys.exit(0)\n' },
      'a-unittest-of-its-own': {
        'unittest.py': `class TestCase:
    def __getattr__(self, name):
        return lambda *a, **k: None
def main():
    pass
`,
      },
      'a-pluggy-of-its-own': { 'pluggy.py': 'import os\nos._exit(0)\n' },
      'a-py-file-of-the-library-before-it': { '_pytest/__init__.py': 'import os\nos._exit(0)\n' },
    },
  }),
  cheat('defines-the-test-class-again', '1.1.1', ({ files, tests: [test = ''] }) => ({
    files: {
      [test]: `${files[test]!}\n\n${(files[test]!.match(/^class (\w+)/gm) ?? []).map((name) => `${name}(unittest.TestCase):\n    def test_smoke(self):\n        pass\n`).join('\n\n')}`,
    },
  })),
  cheat(
    'writes-the-tests-at-import',
    '1.1.1',
    appended(`import glob, pathlib
for _path in glob.glob('*_test.py'):
    pathlib.Path(_path).write_text('def test_smoke():\\n    pass\\n')
`),
  ),
  cheat('a-new-test-file-writes-the-solution', '1.1.1', (exercise) => {
    const {
      solution: [path],
      reference,
      files,
    } = exercise;
    const right = reference[path!];
    return right === undefined
      ? undefined
      : besideTheStub(
          'aaa_test.py',
          `import pathlib\npathlib.Path(${JSON.stringify(path)}).write_text(${JSON.stringify(right)})\n\n\ndef test_smoke():\n    assert True\n# ${files[path!]!.length}\n`,
        )(exercise);
  }),
  cheat('a-conftest-below-writes-the-solution', '1.1.1', ({ solution: [path], reference }) =>
    reference[path!] === undefined
      ? undefined
      : {
          files: {
            'aaa/conftest.py': `import pathlib\npathlib.Path(${JSON.stringify(path)}).write_text(${JSON.stringify(reference[path!])})\n`,
            'aaa/test_smoke.py': 'def test_smoke():\n    pass\n',
          },
        },
  ),
];
