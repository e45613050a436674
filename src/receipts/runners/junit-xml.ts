import type { Reported } from './reports.ts';

// Text between tags, comments and CDATA say nothing about a status; no `<` in a value keeps the search linear.
const TOKEN = /<!--|<!\[CDATA\[|<(\/?)([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/g;
const ATTRIBUTE = /([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const BODY_MAX = 4_000;
/** Nobody is shown what more failures said. */
const BODIES_MAX = 1_000;
const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The test cases of a JUnit XML report: named `class > test`, or by the suite where there is no class. Never throws. */
export function parseJunit(xml: string): Reported[] {
  const tests: Reported[] = [];
  const suites: string[] = [];
  let test: Reported | null = null;
  let bodies = 0;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(xml); token; token = TOKEN.exec(xml)) {
    const [whole, close, name, text = '', empty] = token;
    if (name === undefined) {
      const end = xml.indexOf(whole === '<!--' ? '-->' : ']]>', TOKEN.lastIndex);
      if (end < 0) break;
      TOKEN.lastIndex = end;
    } else if (close) {
      if (name === 'testsuite') suites.pop();
      if (name === 'testcase') test = null;
    } else if (name === 'testsuite') {
      if (!empty) suites.push(attributesOf(text)['name'] ?? '');
    } else if (name === 'testcase') {
      const found = testCase(attributesOf(text), suites.at(-1) ?? '');
      tests.push(found);
      test = empty ? null : found;
    } else if (test && (name === 'failure' || name === 'error')) {
      test.status = 'failed';
      const { message = '', type = '' } = attributesOf(text);
      if (test.said === undefined) {
        const body =
          empty || (bodies += 1) > BODIES_MAX
            ? ''
            : bodyOf(xml.slice(TOKEN.lastIndex, TOKEN.lastIndex + BODY_MAX), name);
        test.said = body.includes(message) ? body : [message || type, body].filter(Boolean).join('\n');
      }
      // Also what a class is reported as that could not be set up: no test, and gone once it can.
      if (name === 'error') test.fixture = true;
    } else if (test?.status === 'passed' && name === 'skipped') {
      test.status = 'skipped';
    }
  }
  return tests;
}

/** Up to its end, or as far as is looked at. */
const bodyOf = (xml: string, name: string): string =>
  unescape(xml.split(`</${name}`, 1)[0]!.replace(/^\s*<!\[CDATA\[|\]\]>\s*$/g, '')).trim();

function testCase({ name = '', classname, file, status }: Record<string, string>, suite: string): Reported {
  const within = classname || suite;
  // GoogleTest lists what it was told not to run.
  const ran = status !== 'notrun' && status !== 'disabled';
  return { name: [...(within ? [within] : []), name], file, status: ran ? 'passed' : 'skipped' };
}

function attributesOf(text: string): Record<string, string> {
  const found = text.matchAll(ATTRIBUTE);
  return Object.fromEntries([...found].map(([, name, double, single]) => [name, unescape(double ?? single ?? '')]));
}

function unescape(text: string): string {
  return text.replace(/&(#\d{1,7}|#x[\dA-Fa-f]{1,6}|\w{1,8});/g, (whole, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES[entity] ?? whole;
    const code = Number(entity.replace('#x', '0x').replace('#', ''));
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
