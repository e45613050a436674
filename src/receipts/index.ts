import type { ReceiptCollector } from '../ports.ts';
import { acceptance } from './acceptance.ts';
import { artifacts } from './artifacts.ts';
import { challenge } from './challenge/index.ts';
import { control } from './control.ts';
import { exit } from './exit.ts';
import { git } from './git.ts';
import { heldOut } from './held-out.ts';
import { network } from './network.ts';
import { result } from './result.ts';
import { review } from './review.ts';
import { secrets } from './secrets.ts';
import { scope } from './scope.ts';
import { tools } from './tools.ts';

/** In the order of the chain; the first that names a reason gives the task's, so causes stand before consequences. */
export const COLLECTORS: readonly ReceiptCollector[] = [
  ...[exit, result, tools, network, git, scope, secrets, acceptance, control, heldOut, challenge, artifacts, review],
];
