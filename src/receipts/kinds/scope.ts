import { matches } from '../../adapters/glob.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Change, ReceiptCollector } from '../../ports.ts';
import { counted, named, sample } from '../bounded.ts';
import { protectedChanges } from '../trial/protecting.ts';

/** What changes how git itself treats other paths. */
const SETTINGS = /(^|\/)\.git(modules|attributes|ignore)$/i;

/** Every changed path against the globs. A rename is a deletion and an addition: both ends count. */
export const scope: ReceiptCollector = {
  kind: 'scope',
  async collect({ task, policy, result, elsewhere, outcome }) {
    const { changes } = result.own ?? result;
    const paths = changes.map(({ path }) => path);
    const allow = policy.allow.map(matches);
    const { refused: touched, fresh } = protectedChanges(policy, changes);
    const readOnly =
      policy.allow.some((globs) => globs.length === 0) ||
      (task.type !== 'code' && task.repo !== undefined && !task.scope.allow);
    const outside = paths.filter((path) => !allow.every((allowed) => allowed(path)));
    const twins = result.twins.map(({ path, of }) => `${path} beside ${of}`);
    const special = changes.flatMap(({ path, kind }) => {
      if (kind === 'mode' || kind === 'type') return `${path} (${kind})`;
      return SETTINGS.test(path) ? path : [];
    });
    const evidence = {
      paths: paths.length,
      outside: sample(outside),
      outsideCount: outside.length,
      protected: sample(touched),
      protectedCount: touched.length,
      allow: policy.allow.slice(0, 4).map((globs) => sample(globs).slice(0, 5)),
      protect: sample(policy.protect),
      ...(fresh.length > 0 && { setAside: sample(fresh), setAsideCount: fresh.length }),
      ...(twins.length > 0 && { twins: sample(twins) }),
      ...(result.inSubmodules && { inSubmodules: sample(result.inSubmodules).slice(0, 5) }),
      ...(special.length > 0 && { special: sample(special) }),
      ...(elsewhere.checkout.length > 0 && { checkout: elsewhere.checkout }),
    };
    if (elsewhere.stores.length > 0)
      return {
        ok: false,
        reason: 'tampered',
        summary: `the worker's own repositories were changed while the agent ran: ${named(elsewhere.stores)}`,
        evidence,
      };
    const inSubmodules = result.inSubmodules ?? [];
    const wrong = [
      inSubmodules.length > 0 &&
        `changed or added files of a submodule, which is another repository's and no part of the result: ${named(inSubmodules)}`,
      touched.length > 0 &&
        `changed what is protected${policy.newProtected === 'refuse' ? ', or added to it' : ''}: ${named(touched)}`,
      outside.length > 0 &&
        (readOnly
          ? `${readOnlyWhy(task)}, but ${did(changes, outside)}`
          : `changed what is outside its scope: ${named(outside)}`),
      twins.length > 0 && `added what is the same as another path on some file systems: ${named(twins)}`,
    ].filter((sentence) => sentence !== false);
    if (wrong.length > 0) return { ok: false, reason: 'scope-violation', summary: wrong.join('; '), evidence };
    const seen =
      paths.length === 0
        ? 'no path of the result was changed'
        : `${counted(paths.length, 'changed path')} of the result, all within the scope`;
    // Where the agent cannot write there, it was its owner.
    const noted =
      outcome.isolation === 'process-group' && elsewhere.checkout.length > 0
        ? `but the user's repository, outside of it, changed meanwhile: ${named(elsewhere.checkout)}`
        : 'what was written outside of it is not watched';
    const added =
      fresh.length > 0
        ? [
            `${named(fresh)} ${fresh.length === 1 ? 'is' : 'are'} new below what is protected, and left out when it was checked`,
          ]
        : [];
    return { ok: true, summary: [seen, ...added, noted].join('; '), evidence };
  },
};

const readOnlyWhy = ({ type, scope }: Task): string =>
  scope.allow || type === 'code'
    ? 'the task is read-only'
    : `a task of type ${type} may change nothing where it names no scope.allow`;

/** `it deleted a, changed b and 2 more`: who was told to list things and deleted them is told so. */
function did(changes: readonly Change[], outside: readonly string[]): string {
  const of = (gone: boolean) =>
    changes.flatMap(({ path, kind }) => (outside.includes(path) && (kind === 'deleted') === gone ? [path] : []));
  const parts = Object.entries({ deleted: of(true), changed: of(false) });
  return `it ${parts.flatMap(([verb, paths]) => (paths.length > 0 ? [`${verb} ${named(paths)}`] : [])).join('; ')}`;
}
