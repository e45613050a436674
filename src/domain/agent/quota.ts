/** The part of a window of an account that is used. `until`: ISO, when it is reset. */
export interface Quota {
  /** 0 to 1 */
  part: number;
  until?: string;
}

/** Seconds since 1970. */
export const quota = (part: number, resetsAt: number): Quota => {
  const reset = new Date(resetsAt * 1_000);
  return resetsAt > 0 && !Number.isNaN(reset.getTime()) ? { part, until: reset.toISOString() } : { part };
};

export const fullest = (...all: readonly (Quota | undefined)[]): Quota | undefined =>
  all.reduce((most, one) => (one && (!most || one.part > most.part) ? one : most), undefined);
