import { readAgentFile, readAgentFolder } from '../../adapters/sandbox/agent-file.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import {
  FOLLOW_UPS,
  FOLLOW_UPS_BYTES,
  FOLLOW_UPS_MAX,
  OUTBOX_FILE_BYTES,
  QUESTION_FILES,
  readFollowUp,
  readQuestion,
  type FollowUp,
  type Read,
} from '../../domain/people/outbox.ts';
import type { AgentTool } from '../../domain/task/schema.ts';
import type { Asked } from '../../domain/people/waiting.ts';
import { builtFile } from '../../package.ts';
import type { StartInput } from '../../ports.ts';
import type { Deps } from '../worker/context.ts';

/** Built beforehand, also for who runs the sources. */
const MAIN = builtFile('mcp/main.js');

/** The MCP server of a run, for a coder that takes one; undefined where its task allows none of its tools. */
export const toolServer = (outbox: string, tools: readonly AgentTool[]): StartInput['mcp'] =>
  tools.length === 0 ? undefined : { command: process.execPath, args: [MAIN, outbox, ...tools], tools: [...tools] };

/** What the agent asks a person, and whether that can be asked; undefined where it asks nothing, or may not. */
export async function askedBy(deps: Deps, ref: RunRef): Promise<Read<Asked> | undefined> {
  if (!mayUse(deps, ref, 'ask_human')) return undefined;
  const root = deps.home.run(ref.taskId, ref.runId).outbox;
  for (const name of QUESTION_FILES) {
    const file = await readAgentFile({ root, names: [name], maxBytes: OUTBOX_FILE_BYTES });
    if (file) return readQuestion(name, file.bytes.toString('utf8'));
  }
  return undefined;
}

/** What it proposes, in the order of its files' names; `wrong` says of each that cannot be taken why, in one sentence. */
export async function proposedBy(deps: Deps, ref: RunRef): Promise<{ followUps: FollowUp[]; wrong: string[] }> {
  if (!mayUse(deps, ref, 'propose')) return { followUps: [], wrong: [] };
  const root = deps.home.run(ref.taskId, ref.runId).outbox;
  const { files, left } = await readAgentFolder({
    ...{ root, folder: FOLLOW_UPS, most: FOLLOW_UPS_MAX, maxBytes: OUTBOX_FILE_BYTES },
  });
  const wrong = left.map(
    (name) =>
      `${name}: is no regular file of ${OUTBOX_FILE_BYTES / 1024} KiB at most, or one more than ${FOLLOW_UPS_MAX}`,
  );
  const followUps: FollowUp[] = [];
  let bytes = 0;
  for (const file of files) {
    bytes += file.bytes.length;
    const read =
      bytes > FOLLOW_UPS_BYTES
        ? {
            ok: false as const,
            message: `${file.name}: with it the follow-ups have more than ${FOLLOW_UPS_BYTES / 1024} KiB`,
          }
        : readFollowUp(file.name, file.bytes.toString('utf8'));
    if (read.ok) followUps.push(read.value);
    else wrong.push(read.message);
  }
  return { followUps, wrong: wrong.slice(0, FOLLOW_UPS_MAX) };
}

function mayUse(deps: Deps, ref: RunRef, tool: AgentTool): boolean {
  const tools: readonly AgentTool[] | undefined = deps.registry.find(ref)?.prepared?.task.agentTools;
  // A run that an older version prepared says nothing of tools.
  return tools?.includes(tool) ?? false;
}
