import { readdir, readFile } from 'node:fs/promises';

/**
 * Processes that carry the folder in their command line or environment: everything that a fleet in it started. A sandbox's command
 * line names the homes of others as well, to hide them.
 */
export async function strays(root: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [line, environment] = await Promise.all(
        ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')),
      );
      const own = /^[^\0]*\/bwrap\0/.test(line!) ? [environment!] : [line!, environment!];
      return own.some((text) => text.includes(root)) ? [pid] : [];
    }),
  );
  return found.flat();
}
