import type { Answer, DeclaredTool, FailKind, Wire, WireError } from './model-server.ts';
import { callOf } from './model-server-tools.ts';

/** Gemini's generateContent and streamGenerateContent, as Gemini CLI speaks them. */
export const gemini: Wire = { tools, call: callOf, events, whole, failure };

interface ToolSpec {
  functionDeclarations?: { name: string; parameters?: Schema; parametersJsonSchema?: Schema }[];
}
interface Schema {
  properties?: Record<string, unknown>;
}

function tools(body: Record<string, unknown>): DeclaredTool[] {
  return ((body['tools'] ?? []) as ToolSpec[])
    .flatMap(({ functionDeclarations }) => functionDeclarations ?? [])
    .map(({ name, parametersJsonSchema, parameters }) => ({
      name,
      properties: (parametersJsonSchema ?? parameters)?.properties ?? {},
      custom: false,
    }));
}

/** Each event is a whole response with a part of the content. */
function events(answer: Answer): Record<string, unknown>[] {
  const calls = callsIn(answer);
  return [
    ...(answer.text.match(/[\s\S]{1,12}/g) ?? []).map((text) => response(answer, [{ text }])),
    ...(calls.length ? [response(answer, calls)] : []),
    response(answer, [{ text: '' }], 'STOP'),
  ];
}

function whole(answer: Answer): unknown {
  return response(answer, [...(answer.text ? [{ text: answer.text }] : []), ...callsIn(answer)], 'STOP');
}

const callsIn = ({ calls }: Answer) => calls.map(({ name, input: args }) => ({ functionCall: { name, args } }));

const response = ({ model, usage }: Answer, parts: object[], finishReason?: string) => ({
  responseId: 'scripted',
  modelVersion: model,
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
  usageMetadata: {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
    cachedContentTokenCount: usage.cached,
  },
});

function failure(kind: FailKind, resetSeconds: number): WireError {
  const [code, status, message, ...details] = said(kind, resetSeconds);
  return { status: code, headers: {}, body: { error: { code, message, status, details } } };
}

const TYPE = 'type.googleapis.com/google.rpc.';

function said(kind: FailKind, resetSeconds: number): [number, string, string, ...object[]] {
  switch (kind) {
    case 'auth':
      return [
        400,
        'INVALID_ARGUMENT',
        'API key not valid. Please pass a valid API key.',
        { '@type': `${TYPE}ErrorInfo`, reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
      ];
    case 'rate':
      return exhausted('Resource has been exhausted (e.g. check quota).', 'PerMinute', resetSeconds);
    case 'quota':
      return exhausted('You exceeded your current quota, please check your plan.', 'PerDay', resetSeconds);
    case 'overloaded':
      return [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'];
    case 'overflow':
      return [
        400,
        'INVALID_ARGUMENT',
        'The input token count (1214321) exceeds the maximum number of tokens allowed (1048576).',
      ];
    case 'server':
      return [500, 'INTERNAL', 'An internal error has occurred.'];
    case 'model':
      return [404, 'NOT_FOUND', 'models/made-up-1 is not found for API version v1beta.'];
    case 'billing':
      return [403, 'PERMISSION_DENIED', 'Your project has been denied access. Please check its billing.'];
  }
}

const exhausted = (message: string, per: string, seconds: number): [number, string, string, ...object[]] => [
  429,
  'RESOURCE_EXHAUSTED',
  message,
  { '@type': `${TYPE}QuotaFailure`, violations: [{ quotaId: `GenerateRequests${per}PerProjectPerModel` }] },
  { '@type': `${TYPE}RetryInfo`, retryDelay: `${seconds}s` },
];
