import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool as Listed,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { serverTrouble } from '../../adapters/temporal/server-errors.ts';
import { firstIssue } from '../../domain/artifact/first-issue.ts';
import { VERSION } from '../../package.ts';
import type { Cli } from '../command.ts';
import type { ErrorCode } from '../../domain/error.ts';
import { asFleetError } from '../errors.ts';
import { toJson } from '../output/text.ts';
import { TOOLS, type Tool } from './tools.ts';

/** Speaks the protocol on stdin and stdout until stdin ends; nothing else is written there. `as`: who asks, for others to see. */
export async function serveFleet(cli: Cli, as: string): Promise<void> {
  const server = new Server({ name: 'fleet', version: VERSION }, { capabilities: { tools: {} } });
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve).once('close', resolve);
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(listed) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (!tool) return failed(`there is no tool ${params.name}`, 'not-found');
    const given = params.arguments ?? {};
    const read = tool.input.safeParse(given);
    if (!read.success) return failed(firstIssue(read.error));
    try {
      return said(toJson(await tool.call({ cli, as, fleet: await cli.fleet() }, given)));
    } catch (error) {
      const trouble = await serverTrouble(error, cli.env).catch(() => undefined);
      const { code, message, hint } = asFleetError(trouble ?? error);
      return failed([message, hint].filter(Boolean).join('; '), code);
    }
  });
  await server.connect(new StdioServerTransport());
  await ended;
}

/** Shape and types alone: what some models' servers would not take, or only makes it long, is left to the call to check. */
function listed({ name, about, input }: Tool): Listed {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      for (const key of ['pattern', 'format', 'allOf', 'minLength', 'maxLength', 'maxItems'] as const)
        delete jsonSchema[key];
    },
  });
  return { name, description: about, inputSchema: schema as Listed['inputSchema'] };
}

const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
/** One sentence for the model, and the code for its program. */
const failed = (text: string, code: ErrorCode = 'invalid-argument'): CallToolResult => ({
  ...{ ...said(text), structuredContent: { error: { code, message: text } } },
  isError: true,
});
