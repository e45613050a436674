import type { Protocol } from './overlay.ts';

/** Any program: what it prints means nothing; its exit code and worktree are the evidence. */
export const noProtocol: Protocol = { structured: false, parser: () => () => [] };
