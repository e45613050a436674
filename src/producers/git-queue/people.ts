import { FleetError, wrongInput, notFound, alreadyExists } from '../../domain/error.ts';
import {
  isClaimed,
  isForPerson,
  isOpen,
  writeClaim,
  writeClosed,
  writeNew,
  type Closing,
  type NewTask,
} from '../../domain/produce/git-queue.ts';
import { bring, lookAt, lookAtTasks, type GitQueue, type Seen, type Snapshot } from './queue.ts';

/** What people, and agents outside of every fleet, do with a queue. Each is one commit, or a FleetError and none. */

/** @throws FleetError (2) where there is a task of that id */
export async function addTask(queue: GitQueue, task: NewTask): Promise<string> {
  const path = `${queue.place.folder}/${task.id}.json`;
  await bring(queue, await lookAt(queue), {
    verb: 'Add',
    changes: [
      {
        path,
        id: task.id,
        make(_, snapshot) {
          const blocked = snapshot.faults.find((fault) => fault.path === queue.place.folder);
          if (blocked) throw wrongInput(`${blocked.path} ${blocked.message}`);
          const same = [...snapshot.tasks.values()].find((other) => other.task.id === task.id)?.path;
          const there = same ?? (snapshot.paths.has(path) ? path : undefined);
          if (there) throw alreadyExists(`there is a task ${task.id} already: ${there}`);
          return { text: writeNew(task), outcome: undefined };
        },
      },
    ],
  });
  return path;
}

/** @throws FleetError (1) where somebody else has it, (2) where there is none, or it is for somebody else */
export async function claimTask(queue: GitQueue, { id, name }: { id: string; name: string }): Promise<void> {
  const snapshot = await lookAtTasks(queue);
  const at = new Date().toISOString();
  await bring(queue, snapshot, {
    verb: `For ${name}: claim`,
    changes: [
      {
        ...{ path: find(snapshot, id).path, id },
        make(_, now) {
          const { task } = find(now, id);
          // Our own push may have arrived though it seemed to fail.
          if (isClaimed(task) && task.claimedBy === name && task.claimedAt === at) return { text: null, outcome: null };
          if (isClaimed(task))
            throw new FleetError('conflict', `${id} is claimed by ${task.claimedBy || 'somebody'} already`);
          if (!isOpen(task))
            throw new FleetError('conflict', `${id} is ${task.status}: only an open task can be claimed`);
          if (!isForPerson(task, name)) throw wrongInput(`${id} is for ${task.forAgent}, not for ${name}`);
          return { text: writeClaim(task, { name, at }), outcome: null };
        },
      },
    ],
  });
}

/** @throws FleetError (1) where somebody else has it, (2) where there is none */
export async function completeTask(
  queue: GitQueue,
  done: { id: string; name: string } & Omit<Closing, 'at'>,
): Promise<void> {
  const { id, name, status, result } = done;
  const snapshot = await lookAtTasks(queue);
  const at = new Date().toISOString();
  await bring(queue, snapshot, {
    verb: `For ${name}: ${status}`,
    changes: [
      {
        ...{ path: find(snapshot, id).path, id },
        make(_, now) {
          const { task } = find(now, id);
          if (isOpen(task))
            throw new FleetError('not-ready', `${id} is claimed by nobody: claim it first`, {
              hint: `fleet sync claim <url> ${id} --as ${name}`,
            });
          if (task.claimedBy !== name)
            throw new FleetError('conflict', `${id} is claimed by ${task.claimedBy || 'somebody else'}`);
          if (task.fleetTask)
            throw new FleetError(
              'conflict',
              `${id} is claimed by a fleet, which reports on it by itself as ${task.fleetTask}`,
            );
          if (!isClaimed(task)) throw new FleetError('conflict', `${id} is ${task.status} already`);
          return { text: writeClosed(task, { status, result, at }), outcome: null };
        },
      },
    ],
  });
}

function find({ tasks, faults }: Snapshot, id: string): Seen {
  const found = [...tasks.values()].find(({ task }) => task.id === id);
  if (found) return found;
  const fault = faults.find(({ path }) => path.endsWith(`/${id}.json`));
  throw fault ? wrongInput(`${fault.path} ${fault.message}`) : notFound(`there is no task ${id} in this queue`);
}
