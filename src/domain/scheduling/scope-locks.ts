/** Who of a repository's tasks may run now, so that no two whose scopes overlap run at the same time. */
export interface ScopeLocks {
  repo: string;
  holders: Waiting[];
  /** First come, first served, but for those that can go before without being in anybody's way. */
  waiting: Waiting[];
}
export interface ScopeAsk {
  taskId: string;
  /** Which of its asks: a newer one takes the place of an older one. */
  ticket: number;
  /** Globs; an empty list is the whole repository. */
  allow: string[];
}
/** `told`: who it last heard is in its way; null: nobody. */
type Waiting = ScopeAsk & { told?: string | null };

/** `first`: who is in its way, null: it may go. `others`: how many more wait before it, whether in its way or not. */
export interface ScopeAnswer {
  ticket: number;
  first: string | null;
  others: number;
}

export const newLocks = (repo: string): ScopeLocks => ({ repo, holders: [], waiting: [] });

/** The same ask again has the same place. */
export function asked(locks: ScopeLocks, ask: ScopeAsk): ScopeLocks {
  const known = [...locks.holders, ...locks.waiting].find(({ taskId }) => taskId === ask.taskId);
  if (known && known.ticket >= ask.ticket) return again(locks, ask);
  const without = left(locks, [ask]);
  return { ...without, waiting: [...without.waiting, ask] };
}

/** What it was told may not have come. */
function again(locks: ScopeLocks, { taskId, ticket }: ScopeAsk): ScopeLocks {
  const untold = (one: Waiting): Waiting => {
    const { told: _told, ...ask } = one;
    return one.taskId === taskId && one.ticket === ticket ? ask : one;
  };
  return { ...locks, holders: locks.holders.map(untold), waiting: locks.waiting.map(untold) };
}

export function left(locks: ScopeLocks, who: readonly Pick<ScopeAsk, 'taskId' | 'ticket'>[]): ScopeLocks {
  const tickets = new Map(who.map(({ taskId, ticket }) => [taskId, ticket]));
  const stays = ({ taskId, ticket }: Waiting) => ticket > (tickets.get(taskId) ?? -1);
  return { ...locks, holders: locks.holders.filter(stays), waiting: locks.waiting.filter(stays) };
}

/** Those who can go: nobody overtakes one who came before and overlaps. */
export function granted(locks: ScopeLocks): ScopeLocks {
  const holders = [...locks.holders];
  const waiting: Waiting[] = [];
  for (const ask of locks.waiting) {
    if ([holders, waiting].some((others) => others.some((other) => scopesOverlap(ask.allow, other.allow))))
      waiting.push(ask);
    else holders.push(ask);
  }
  return { ...locks, holders, waiting };
}

/** What is to be told to whom, `most` at a time; with it noted as told. */
export function news(
  locks: ScopeLocks,
  most: number,
): { locks: ScopeLocks; tell: (ScopeAnswer & { taskId: string })[] } {
  const tell: (ScopeAnswer & { taskId: string })[] = [];
  const say = (one: Waiting, first: string | null, others: number): Waiting => {
    if (one.told === first || tell.length >= most) return one;
    tell.push({ taskId: one.taskId, ticket: one.ticket, first, others });
    return { ...one, told: first };
  };
  const holders = locks.holders.map((one) => say(one, null, 0));
  const waiting = locks.waiting.map((one, at) => say(one, inTheWay(locks, at), at));
  return { locks: { ...locks, holders, waiting }, tell };
}

function inTheWay({ holders, waiting }: ScopeLocks, at: number): string {
  const ask = waiting[at]!;
  const blocks = (other: Waiting) => scopesOverlap(ask.allow, other.allow);
  return (holders.find(blocks) ?? waiting.slice(0, at).find(blocks) ?? ask).taskId;
}

export const scopesOverlap = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === 0 || other.length === 0 || one.some((a) => other.some((b) => globsOverlap(a, b)));

/** Whether some path may match both: where it is not plain, yes. A plain folder name means all below it, as in a scope. */
export function globsOverlap(one: string, other: string): boolean {
  return partsOverlap(partsOf(one), partsOf(other));
}

const partsOf = (glob: string): string[] => {
  const parts = glob
    .replace(/^\.?\//, '')
    .replace(/\/+$/, '')
    .split('/');
  // Case folds on some file systems.
  const folded = parts.map((part) => part.toLowerCase());
  // A brace may hold slashes: what comes after it is not known.
  const open = folded.findIndex((part) => /[{}()]/.test(part));
  return open < 0 ? folded : [...folded.slice(0, open), '**'];
};

function partsOverlap(one: readonly string[], other: readonly string[]): boolean {
  const [a, ...restA] = one;
  const [b, ...restB] = other;
  // The shorter one may be a folder.
  if (a === undefined || b === undefined) return true;
  if (a === '**') return partsOverlap(restA, other) || partsOverlap(one, restB);
  if (b === '**') return partsOverlap(one, restB) || partsOverlap(restA, other);
  return partOverlaps(a, b) && partsOverlap(restA, restB);
}

/** Compares one name each: literal against literal is exact, a pattern against a literal nearly so, two patterns may. */
function partOverlaps(a: string, b: string): boolean {
  const [wildA, wildB] = [/[*?[!\\]/.test(a), /[*?[!\\]/.test(b)];
  if (!wildA && !wildB) return a === b;
  if (wildA && wildB) return fixed(a, b);
  const [pattern, literal] = wildA ? [a, b] : [b, a];
  return fixed(pattern, literal);
}

/** Whether begin and end, as far as they are plain, agree. */
function fixed(a: string, b: string): boolean {
  const head = (text: string) => /^[^*?[!\\]*/.exec(text)![0];
  const tail = (text: string) => (/[*?[!\\]/.test(text) ? /[^*?\]!\\]*$/.exec(text)![0] : text);
  const starts = (x: string, y: string) => x.startsWith(y) || y.startsWith(x);
  const ends = (x: string, y: string) => x.endsWith(y) || y.endsWith(x);
  return starts(head(a), head(b)) && ends(tail(a), tail(b));
}
