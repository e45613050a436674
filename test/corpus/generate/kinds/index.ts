import type { Kind } from '../kind.ts';
import { go } from './go.ts';
import { java } from './java.ts';
import { javascript } from './javascript.ts';
import { python } from './python.ts';
import { rust } from './rust.ts';
import { typescript } from './typescript.ts';

/** By language. */
export const KINDS: Readonly<Record<string, readonly Kind[]>> = { python, go, javascript, typescript, rust, java };
