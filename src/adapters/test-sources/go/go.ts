import type { Node } from '@vscode/tree-sitter-wasm';
import type { DeclaredTest } from '../../../domain/evidence/test-source.ts';
import { Negation } from './negation.ts';
import { goTurns } from './turns.ts';
import { children, field, findAll, mergeTwins, shortText, type Found, type SourceFile } from '../shared/nodes.ts';

const CALLS = new Set(['call_expression']);
const SKIPS = /\.(Skip|Skipf|SkipNow)$|^testing\.Short$|(^|\.)\w*[sS]kip\w*$/;
const BUILD_TAG = /^\/\/(go:build|\s*\+build)\s/m;
/** `_linux_test.go` and the like are built on some machines. */
const SYSTEM =
  /_(linux|windows|darwin|freebsd|openbsd|netbsd|solaris|plan9|android|ios|js|wasip1|aix|amd64|arm64|arm|386|wasm|s390x|ppc64le|riscv64)_test\.go$/;

/** `go test`, with testify's assertions. */
export function readGo(root: Node, file: SourceFile): Found {
  const head = file.text.slice(0, children(root)[0]?.startIndex ?? 0);
  const off = BUILD_TAG.test(head) || SYSTEM.test(file.path);
  const testify = /"github\.com\/stretchr\/testify\/(assert|require)"/.test(file.text);
  const negation = new Negation(file);
  const tests = children(root)
    .filter(({ type }) => type === 'function_declaration')
    .flatMap((node): DeclaredTest[] => {
      const name = shortText(field(node, 'name'));
      const [parameter, more] = children(field(node, 'parameters'));
      if (!/^Test([^a-z]|$)/.test(name) || more || field(parameter ?? null, 'type')?.text !== '*testing.T') return [];
      const calls = findAll(node, CALLS).map((call) => shortText(field(call, 'function')));
      const t = shortText(field(parameter!, 'name'));
      const turns = t === '' || t === '_' ? [] : goTurns(field(node, 'body'), { t, testify, file, negation });
      return [
        {
          name: [name],
          several: calls.some((call) => call.endsWith('.Run')),
          skipped: off || calls.some((call) => SKIPS.test(call)),
          turns,
        },
      ];
    });
  const isUsed = tests.some(({ turns }) => turns.some(({ neutral = [] }) => neutral.length > 0));
  return {
    framework: tests.length > 0 ? 'go test' : null,
    tests: mergeTwins(tests),
    shared: isUsed ? [negation.source()] : [],
  };
}
