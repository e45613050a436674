/** What a worker's service is called. */

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;

/** Whether a service can be called so. */
export const isServiceName = (name: string): boolean => NAME.test(name);
/** `fleet-worker`, `fleet-worker-build-7` */
export const unitName = (name: string | undefined): string =>
  name === undefined ? 'fleet-worker' : `fleet-worker-${name}`;
export const launchLabel = (unit: string): string => `dev.infinity-fleet.${unit}`;
