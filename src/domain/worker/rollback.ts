/** A run that a worker had, and that the server's database, an older copy by now, does not know as far as it went. */
export interface ForgottenRun {
  taskId: string;
  /** Number of the run, from 1. */
  n: number;
  /** Else it was only begun. */
  ended: boolean;
  /** ISO, by the server's clock: the newest thing of it that the server does not know. */
  at: string;
}

/** What one worker noticed. */
export interface RollbackNotice {
  worker: string;
  /** Names the worker among those of other machines. */
  hostQueue: string;
  /** Newest first, as many as are named. */
  runs: ForgottenRun[];
  /** How many older ones there are beside. */
  more: number;
}

/** A person goes on with the older database: nothing up to `at` is waited for any more. */
export interface AcceptedRollback {
  /** `<user>@<host>` */
  by: string;
  why: string;
  /** ISO */
  at: string;
}

/** A run that was forgotten, with the worker that had it. */
export type ForgottenBy = ForgottenRun & Pick<RollbackNotice, 'worker'>;

/** What still counts of the notices once a person has accepted an older database. */
export function openNotices(notices: readonly RollbackNotice[], accepted: AcceptedRollback | null): RollbackNotice[] {
  return notices.flatMap((notice) => {
    const runs = notice.runs.filter(({ at }) => !accepted || at > accepted.at);
    return runs.length > 0 ? { ...notice, runs } : [];
  });
}

/** All runs of the notices, newest first. */
export const forgottenRuns = (notices: readonly RollbackNotice[]): ForgottenBy[] =>
  notices
    .flatMap(({ worker, runs }) => runs.map((run) => ({ ...run, worker })))
    .sort((one, other) => other.at.localeCompare(one.at));

export const unnamedRuns = (notices: readonly RollbackNotice[]): number =>
  notices.reduce((sum, { more }) => sum + more, 0);

/** The newest run of a task that was forgotten. */
export const forgottenRunOf = (notices: readonly RollbackNotice[], taskId: string): ForgottenBy | undefined =>
  forgottenRuns(notices).find((run) => run.taskId === taskId);

const howFar = ({ ended, worker, at }: ForgottenBy): string =>
  `${ended ? 'ended' : 'was at work'} on worker ${worker} at ${at}`;

/** Why no worker takes new work. There is at least one notice. */
export function rollbackSentence(notices: readonly RollbackNotice[]): string {
  const [newest, ...named] = forgottenRuns(notices);
  const others = named.length + unnamedRuns(notices);
  const more = others > 0 ? ` (and ${others} more, see fleet rollback)` : '';
  return (
    `the Temporal server does not know of run ${newest!.n} of ${newest!.taskId}, which ${howFar(newest!)}${more}: its ` +
    `database was rolled back, or that task deleted; put the newer database back, or type fleet rollback accept to go on ` +
    `with this one, which may do work again`
  );
}

/** What that means for the task itself. */
export const forgottenSentence = (run: ForgottenBy): string =>
  `run ${run.n} of it ${howFar(run)}, and the server's database, which was rolled back, does not know: it is held until ` +
  `the newer database is back, or somebody types fleet rollback accept, after which it may run again`;
