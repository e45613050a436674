declare module 'fs-native-extensions' {
  /** Takes an OFD lock on the whole file; false where another open file holds it. */
  export function tryLock(fd: number): boolean;
}
