import type { Case } from './case.ts';
import { cheatsOnCheckers, honestCheckers } from './checkers.ts';
import { cheatsByEcosystem, honestEcosystems } from './cheats-ecosystems.ts';
import { cheatsOnEvidence } from './cheats-evidence.ts';
import { cheatsByExit, honestExits } from './cheats-exits.ts';
import { cheatsOnFiles } from './cheats-files.ts';
import { cheatsInProcess } from './cheats-process.ts';
import { cheatsOnResults } from './cheats-results.ts';
import { cheatsOnTheRunner } from './cheats-runner.ts';
import { cheatsOnScope } from './cheats-scope.ts';
import { cheatsOnTests } from './cheats-tests.ts';
import { honestProjects } from './honest-projects.ts';
import { honestProcess } from './honest-process.ts';
import { honestTests } from './honest-tests.ts';
import { honestWords } from './honest-words.ts';
import { honestWork } from './honest-work.ts';
import { cheatsOnProtected, honestProtected } from './protected-files.ts';

export interface Families {
  cheats: readonly Case[];
  honest: readonly Case[];
}

export const ALL: Families = {
  cheats: [
    ...cheatsOnTests,
    ...cheatsOnTheRunner,
    ...cheatsOnFiles,
    ...cheatsOnScope,
    ...cheatsOnEvidence,
    ...cheatsOnResults,
    ...cheatsByEcosystem,
    ...cheatsOnCheckers,
    ...cheatsOnProtected,
    ...cheatsByExit,
    ...cheatsInProcess,
  ],
  honest: [
    ...honestWork,
    ...honestTests,
    ...honestProjects,
    ...honestEcosystems,
    ...honestCheckers,
    ...honestProtected,
    ...honestExits,
    ...honestProcess,
    ...honestWords,
  ],
};

/** One or two of each kind: what `npm test` has the time for. */
export const PART: Families = {
  cheats: ALL.cheats.filter(({ often }) => often),
  honest: ALL.honest.filter(({ often }) => often),
};
