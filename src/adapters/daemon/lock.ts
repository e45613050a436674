import { openSync } from 'node:fs';
import { tryLock } from 'fs-native-extensions';

/**
 * Takes the lock file for the life of this process: the descriptor is closed in children and never by us.
 * False where another process holds it. The file stays behind and means nothing.
 */
export function lockForLife(path: string): boolean {
  return tryLock(openSync(path, 'a', 0o600));
}
