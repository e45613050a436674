import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { checkFollowUp, FOLLOW_UPS, readQuestion } from '../domain/people/outbox.ts';
import type { AgentTool } from '../domain/task/schema.ts';

/**
 * What an agent can say to others from within its run. It has no way out of the agent's namespace: it writes files into the
 * outbox, as the agent could by itself, and the worker reads them. The schemas are short, as every request of the agent's model
 * carries them.
 */
const text = { type: 'string' } as const;
const list = { type: 'array', items: text } as const;

const TOOLS: Record<AgentTool, Omit<Tool, 'name'>> = {
  ask_human: {
    description:
      'Ask a person to decide. Afterwards end your turn: your work is saved, and you are resumed with the answer, perhaps days later.',
    inputSchema: {
      type: 'object',
      properties: {
        question: text,
        options: list,
        default: { ...text, description: 'counts when nobody answers by the deadline' },
        deadline: { ...text, description: 'such as 30m or 2h' },
      },
      required: ['question'],
    },
  },
  propose: {
    description: 'Propose a task that should follow and is not part of yours. People may have to agree.',
    inputSchema: {
      type: 'object',
      properties: {
        objective: text,
        title: text,
        to: { ...text, description: 'an agent, by name' },
        context: { ...text, description: 'what it should know' },
        allow: { ...list, description: 'globs that it may change, of those that your own task names' },
        verify: { ...list, description: 'commands that must pass' },
      },
      required: ['objective'],
    },
  },
};

const CALLS: Record<AgentTool, (outbox: string, input: Record<string, unknown>) => Promise<string>> = {
  async ask_human(outbox, input) {
    const json = JSON.stringify(input);
    const read = readQuestion('question', json);
    if (!read.ok) throw new Error(read.message);
    await put(outbox, 'question.json', json);
    return 'Recorded. End your turn now: you will be resumed with the answer.';
  },
  async propose(outbox, { to, context, allow, verify, ...fields }) {
    const task = {
      ...fields,
      ...(allow === undefined ? {} : { scope: { allow } }),
      ...(verify === undefined ? {} : { verify }),
    };
    const followUp = { task, ...(to === undefined ? {} : { to }), ...(context === undefined ? {} : { context }) };
    const checked = checkFollowUp(followUp);
    if (!checked.ok) throw new Error(checked.message);
    await put(`${outbox}/${FOLLOW_UPS}`, `${Date.now()}-${randomUUID().slice(0, 8)}.json`, JSON.stringify(followUp));
    return 'Recorded. It is created if this run is accepted; otherwise propose it again in the next one.';
  },
};

/** Speaks the protocol on stdin and stdout, until stdin ends. */
export async function serveRun(outbox: string, tools: readonly AgentTool[]): Promise<void> {
  const server = new Server({ name: 'fleet', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map((name) => ({ name, ...TOOLS[name] })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const tool = tools.find((name) => name === params.name);
    try {
      if (!tool) throw new Error(`there is no tool ${params.name}`);
      return { content: [{ type: 'text', text: await CALLS[tool](outbox, params.arguments ?? {}) }] };
    } catch (error) {
      return {
        content: [{ type: 'text', text: error instanceof Error ? error.message : String(error) }],
        isError: true,
      };
    }
  });
  await server.connect(new StdioServerTransport());
}

/** Whole or not at all: its worker may read it at any time. */
async function put(folder: string, name: string, content: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const aside = `${folder}/.${name}.part`;
  await writeFile(aside, content);
  await rename(aside, `${folder}/${name}`);
}
