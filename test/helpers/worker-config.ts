import { stringify } from 'yaml';
import type { PartialConfig } from '../../src/config.ts';

/** The config.yaml of a test's worker: no merge and no command needs a yes, unless the test says so. */
export function workerConfig(config: PartialConfig, name: string): string {
  const irreversible = { branches: [], commands: [], ...config.irreversible };
  return stringify({ ...config, irreversible, worker: { name, ...config.worker } });
}
