import type { DeliveryDesk } from './delivery-desk.ts';
import type { Desk } from './desk.ts';

/** What a program outside of the fleet answers, or does not: nothing else waits for it. */
export type OutsideCalls = Pick<Desk, 'tellWebhook' | 'tellPeople'> &
  Pick<DeliveryDesk, 'openPull' | 'lookAtPull' | 'closePull'>;
