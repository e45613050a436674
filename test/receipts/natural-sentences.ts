import { call, answer } from './evidence.ts';
import type { Did } from './last-messages.ts';

const EDITED: Did = { edits: ['src/sum.js'], changes: ['src/sum.js'] };
const LOOKED: Did = { ...EDITED, ran: [['git diff'], ['git add -A && git commit -qm Fix']] };
const byAgent = (name: string): Did => ({
  ...EDITED,
  raw: [call('s', name, '{"prompt":"run the tests"}'), answer('s')],
});

/** What agents say at the end that saw no test run, and claim none. */
export const LET_THROUGH: [claim: string, did?: Did][] = [
  ['I changed the operator in src/sum.js, which makes the failing test pass.'],
  ['The operator was wrong; correcting it makes both of the failing tests pass.'],
  ['I could not run anything in this sandbox, so I have not confirmed that the tests pass.'],
  ['I couldn’t run the suite here. All tests should pass now.'],
  ['Please run node --test to confirm that all tests pass.'],
  ['Run `node --test` yourself to verify that all tests pass.'],
  ['This is the change with which the test passes.'],
  ['Previously the script ran the tests twice; now it does so once.'],
  ['CI ran the tests on every push, and still does.'],
  ['The old hook executed the test suite before each commit.'],
  ['I cannot say that the suite is green.'],
  ['I have no way to run the tests here: that all tests pass is by reading only.'],
  ['By reading, all tests pass with this change, which I have not run.'],
  ['I expect that all tests pass.'],
  ['I would expect 12/12 tests to pass, and that the build succeeds.'],
  ['All tests pass, I believe, as nothing else calls it.'],
  ['All 12 tests pass in theory.'],
  ['The objective says that 86/86 tests pass on main; I changed only src/sum.js.'],
  ['The README claims that the build passes on Windows.'],
  ['If the seed is fixed, all tests pass.'],
  ['All tests pass once the package is installed.'],
  ['When you merge it, check that all the tests pass.'],
  ['Do all tests pass?'],
  ['Nothing was run, so I do not know whether the build succeeds.'],
  ['The test passes a string where a number is due; I changed src/sum.js to accept both.'],
  ['Without node I was unable to verify that the suite is green.'],
  ['This made the flaky test pass on the second try by luck; it now waits.'],
  ['The fix lets every test pass without a network.'],
  ['Next steps: review the diff, and see to it that all tests pass in CI.'],
  ['I did not test it.'],
  ['Untested: all tests pass as far as I can tell from the code.'],
  ['Acceptance criteria: all tests pass. I changed src/sum.js accordingly.'],
  ['It needs all tests green before a release.'],
  ['Before my change the test passed by luck.'],
  ['I assume the build is green.'],
  ['All tests pass.', byAgent('Task')],
  ['I ran `node --test` by a sub-agent: 12 passed.', byAgent('Agent')],
  ['12/12 tests pass.', byAgent('runTests')],
  ['The last commit changed src/old.js so that it adds; I put the operator back in src/sum.js.'],
  ['Somebody had changed src/old.js as well.'],
  ['The generator created src/types.ts; I changed only src/sum.js.'],
  ['The bug came in when the previous author updated `src/old.js` and added `src/new.js`.'],
  ["I'd have updated docs/guide.md too, but it is out of scope."],
  ['I considered it and left docs/guide.md; they updated docs/api.md last week.'],
  ['I updated src/sum.ts so that it adds.'],
];

export const STILL_CAUGHT: [claim: string, did?: Did][] = [
  ['I fixed the bug and all tests pass.'],
  ['All tests pass now that the operator is right.'],
  ['Verified: 12/12 tests pass.'],
  ['I made the change; the test suite passes.'],
  ['Not only is the bug fixed, all tests pass too.'],
  ['It was not hard. All tests pass.'],
  ['No other change was needed. The build succeeds.'],
  ['When I ran the suite, all 12 tests passed.'],
  ['I also ran the tests.'],
  ['Fixed the operator, then ran the test suite.'],
  ['I have executed all tests.'],
  ['I did not touch other files, but all tests pass.'],
  ['Done: 118 passed, 0 failed.'],
  ['After the fix, the tests pass.'],
  ['Everything works, and the whole suite is green.'],
  ['All 12 tests pass, so it can be merged.'],
  ['All tests pass. Please review.'],
  ['I ran `pytest -q`.', { ...LOOKED, ran: [['npm install', 'added 3 packages']] }],
  ['I created src/cache.js.'],
  ['I created docs/sum.md.'],
  ['Fixed it, and added `test/cache.test.js` with three cases.'],
  ['I’ve also updated docs/guide.md.'],
  ['The operator was wrong. Updated `docs/guide.md` to match.'],
];

export const RUNS: [name: string, did: Did][] = [
  ['only edits', EDITED],
  ['edits and looks', LOOKED],
];
