import type { DeliveryDesk } from './delivery-services.ts';
import type { Desk } from './task-services.ts';

/** What a program outside of the fleet answers, or does not: nothing else waits for it. */
export type OutsideCalls = Pick<Desk, 'tellWebhook' | 'tellPeople'> &
  Pick<DeliveryDesk, 'openPull' | 'lookAtPull' | 'closePull'>;
