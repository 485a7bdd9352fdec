/** Rules for leases and events. */
import { textAt } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { Check } from './check.ts';

export const leaseStrategy: Strategy = {
  validate(draft) {
    const spec = new Check(draft['spec'], 'spec');
    const seconds = spec.number('leaseDurationSeconds') ?? 1;
    if (seconds <= 0) spec.invalid('leaseDurationSeconds', seconds, 'must be greater than 0');
    return spec.errors;
  },
};

export const eventStrategy: Strategy = {
  validate(draft) {
    const check = new Check(draft, '');
    const about = textAt(draft, 'involvedObject', 'namespace') ?? '';
    const { namespace = '' } = draft.metadata;
    if (about !== namespace && (about !== '' || namespace !== 'default')) {
      check.invalid('involvedObject.namespace', about, 'does not match event.namespace');
    }
    return check.errors;
  },
};
