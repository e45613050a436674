import { fnv1a } from '../values/fnv1a.ts';
import { ID_MAX } from '../names.ts';

/** The same follow-up of the same run has the same id, however often it is created. */
export function followUpId(parent: string, n: number, index: number): string {
  const suffix = `.${n}-${index}`;
  if (parent.length + suffix.length <= ID_MAX) return parent + suffix;
  const mark = `-${fnv1a(parent)}`;
  return parent.slice(0, ID_MAX - suffix.length - mark.length).replace(/[._-]+$/, '') + mark + suffix;
}

/** Whether it is the id of one that an agent of this parent proposed. */
export function isFollowUpOf(parent: string, id: string): boolean {
  const [, n, index] = /\.(\d{1,6})-(\d{1,3})$/.exec(id) ?? [];
  return n !== undefined && id === followUpId(parent, Number(n), Number(index));
}
