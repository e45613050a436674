import type { Command } from './command.ts';
import { cancel } from './commands/cancel.ts';
import { clean } from './commands/clean.ts';
import { compare } from './commands/compare.ts';
import { configSet } from './commands/config-set.ts';
import { configShow } from './commands/config-show.ts';
import { credentials, credentialsOk } from './commands/credentials.ts';
import { demo } from './commands/demo.ts';
import { doctorContext } from './commands/doctor-context.ts';
import { doctor } from './commands/doctor.ts';
import { enqueue } from './commands/enqueue.ts';
import { explain } from './commands/explain.ts';
import { inbox } from './commands/inbox.ts';
import { graph } from './commands/graph.ts';
import { merges } from './commands/merges.ts';
import { patrol, patrolStatus } from './commands/patrol.ts';
import { claim, complete, fail, list } from './commands/outside.ts';
import { handOff } from './commands/hand-off.ts';
import { mcp } from './commands/mcp.ts';
import { pause } from './commands/pause.ts';
import { plan } from './commands/plan.ts';
import { receiptsExport } from './commands/receipts-export.ts';
import { receiptsKeys } from './commands/receipts-keys.ts';
import { receiptsVerify } from './commands/receipts-verify.ts';
import { resume } from './commands/resume.ts';
import { rollback, rollbackAccept } from './commands/rollback.ts';
import { run } from './commands/run.ts';
import {
  schedule,
  scheduleAdd,
  scheduleList,
  schedulePause,
  scheduleRemove,
  scheduleResume,
  scheduleShow,
  scheduleTrigger,
} from './commands/schedule.ts';
import { seal } from './commands/seal.ts';
import { stats } from './commands/stats.ts';
import { stop } from './commands/stop.ts';
import { syncAdd } from './commands/sync-add.ts';
import { syncClaim, syncComplete, syncList } from './commands/sync-people.ts';
import { sync } from './commands/sync.ts';
import { taskAccept, taskCancel, taskGiveUp, taskRetry } from './commands/task-decisions.ts';
import { taskEvents } from './commands/task-events.ts';
import { taskCheck, taskDiff, taskKnowledge, taskPlan, taskStderr } from './commands/task-files.ts';
import { taskLog } from './commands/task-log.ts';
import { taskAnswer, taskApprove, taskNeeds, taskPriority, taskReject } from './commands/task-people.ts';
import { taskReceipts } from './commands/task-receipts.ts';
import { taskWait } from './commands/task-wait.ts';
import { task } from './commands/task.ts';
import { tasks } from './commands/tasks.ts';
import { up } from './commands/up.ts';
import { workerDrain, workerPause, workerResume } from './commands/worker-orders.ts';
import { worker } from './commands/worker.ts';
import { workers } from './commands/workers.ts';

/** Every command, in the order of `fleet --help`. */
export const COMMANDS: readonly Command[] = [
  demo,
  up,
  run,
  compare,
  enqueue,
  handOff,
  plan,
  sync,
  syncAdd,
  syncList,
  syncClaim,
  syncComplete,
  tasks,
  graph,
  task,
  inbox,
  cancel,
  explain,
  merges,
  stats,
  workers,
  worker,
  workerDrain,
  workerPause,
  workerResume,
  schedule,
  scheduleAdd,
  scheduleList,
  scheduleShow,
  schedulePause,
  scheduleResume,
  scheduleTrigger,
  scheduleRemove,
  patrol,
  patrolStatus,
  credentials,
  credentialsOk,
  pause,
  resume,
  stop,
  rollback,
  rollbackAccept,
  list,
  claim,
  complete,
  fail,
  receiptsVerify,
  receiptsExport,
  receiptsKeys,
  seal,
  mcp,
  doctor,
  doctorContext,
  clean,
  configShow,
  configSet,
  // fleet task <id> …
  taskLog,
  taskEvents,
  taskStderr,
  taskCheck,
  taskPlan,
  taskKnowledge,
  taskDiff,
  taskReceipts,
  taskWait,
  taskCancel,
  taskRetry,
  taskAccept,
  taskGiveUp,
  taskApprove,
  taskReject,
  taskAnswer,
  taskPriority,
  taskNeeds,
];
