/**
 * Without file descriptors a spawn emits an error that execa, which has thrown by then, does not hear: its caller knows, so
 * that this process need not end. Anything else that nobody hears ends it as ever. Gives what takes it back.
 */
export function outliveFailedSpawns(): () => void {
  const unheard = (error: NodeJS.ErrnoException) => {
    if (['EMFILE', 'ENFILE'].includes(error.code ?? '') && error.syscall?.startsWith('spawn')) return;
    takeBack();
    process.nextTick(() => {
      throw error;
    });
  };
  const takeBack = () => void process.off('uncaughtException', unheard);
  process.on('uncaughtException', unheard);
  return takeBack;
}
