/** Rules for leases and events. */
import { at, textAt } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { invalidValue } from '../status.ts';

export const leaseStrategy: Strategy = {
  validate(draft) {
    const seconds = at(draft, 'spec', 'leaseDurationSeconds');
    return typeof seconds === 'number' && seconds <= 0
      ? [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : [];
  },
};

export const eventStrategy: Strategy = {
  validate(draft) {
    const about = textAt(draft, 'involvedObject', 'namespace') ?? '';
    const home = draft.metadata.namespace ?? '';
    const matches = about === home || (about === '' && home === 'default');
    return matches ? [] : [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')];
  },
};
