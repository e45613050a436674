import { delegate } from './git.ts';
import { measureFolder, type FolderSize } from '../disk/measure-folder.ts';

export type { FolderSize };

/** What a folder takes on its disk. A worker leaves it to its git process: an agent may have made a million files. */
export const folderSize = async (path: string): Promise<FolderSize> =>
  delegate()?.folderSize(path) ?? measureFolder(path);

export const folderBytes = async (path: string): Promise<number> => (await folderSize(path)).bytes;
