/** The wire formats of model calls that a run's model proxy can read. */
export type WireApi = 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini';

/** Where a coder's model calls go, and what they are allowed by. */
export interface Upstream {
  api: WireApi;
  /** Without the version folder, e.g. `https://api.anthropic.com`; with it where `versioned`: it takes the place of the agent's. */
  url: string;
  versioned?: true;
  /** Set on each request instead of what the agent sent, e.g. `{ 'x-api-key': … }`. Lower case. */
  headers: Record<string, string>;
}

/** What a way to a model depends on beside the account's variables. */
export interface ModelWay {
  /** The run's model; missing: the CLI's own choice. */
  model?: string | undefined;
  /** The worker's own environment. */
  worker: Readonly<Record<string, string | undefined>>;
  /** The account's own configuration of the CLI: the text of each file of `ownConfig` that is there, by its path below its HOME. */
  own: OwnConfig;
}
export type OwnConfig = Readonly<Record<string, string>>;
