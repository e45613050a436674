import type { DeliveryServices } from './delivery-services.ts';
import type { TaskServices } from './task-services.ts';

/** What a program outside of the fleet answers, or does not: nothing else waits for it. */
export type OutsideCalls = Pick<TaskServices, 'tellWebhook' | 'tellPeople'> &
  Pick<DeliveryServices, 'openPull' | 'lookAtPull' | 'closePull'>;
