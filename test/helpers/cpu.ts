/** Milliseconds of CPU time that something took, whatever else the machine does meanwhile. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return process.cpuUsage(before).user / 1_000;
}
