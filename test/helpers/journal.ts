import { readFile } from 'node:fs/promises';

/** The life of one agent as it told it itself; seconds since boot, those that the machine slept included. */
export interface Life {
  taskId: string;
  runId: string;
  /** One for each time that it was launched. */
  starts: number;
  from: number;
  to: number;
}

/** What the agents of `beat.sh` wrote, one entry a run, oldest first. */
export async function readJournal(file: string): Promise<Life[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return livesOf(text.split('\n'));
}

export function livesOf(lines: readonly string[]): Life[] {
  const lives = new Map<string, Life>();
  for (const line of lines) {
    const [what, taskId = '', runId = '', up = ''] = line.split(' ');
    const at = Number(up);
    if (!taskId || !up || Number.isNaN(at)) continue;
    const life = lives.get(`${taskId} ${runId}`) ?? { taskId, runId, starts: 0, from: at, to: at };
    lives.set(`${taskId} ${runId}`, { ...life, starts: life.starts + (what === 'start' ? 1 : 0), to: at });
  }
  return [...lives.values()];
}

/** Pairs of agents of one task that lived at the same time for longer than `toleratedSeconds`. */
export function overlaps(lives: readonly Life[], toleratedSeconds = 0): [Life, Life][] {
  return lives.flatMap((one, i) =>
    lives
      .slice(i + 1)
      .filter((two) => one.taskId === two.taskId)
      .filter((two) => Math.min(one.to, two.to) - Math.max(one.from, two.from) > toleratedSeconds)
      .map((two): [Life, Life] => [one, two]),
  );
}
