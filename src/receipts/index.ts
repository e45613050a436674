import type { ReceiptCollector } from '../ports.ts';
import { acceptance } from './kinds/acceptance.ts';
import { artifacts } from './kinds/artifacts.ts';
import { challenge } from './challenge/index.ts';
import { control } from './kinds/control.ts';
import { exit } from './kinds/exit.ts';
import { git } from './kinds/git.ts';
import { heldOut } from './kinds/held-out.ts';
import { network } from './kinds/network.ts';
import { result } from './kinds/result.ts';
import { review } from './kinds/review.ts';
import { secrets } from './kinds/secrets.ts';
import { scope } from './kinds/scope.ts';
import { tools } from './kinds/tools.ts';

/** In the order of the chain; the first that names a reason gives the task's, so causes stand before consequences. */
export const COLLECTORS: readonly ReceiptCollector[] = [
  ...[exit, result, tools, network, git, scope, secrets, acceptance, control, heldOut, challenge, artifacts, review],
];
