/** Rules for network policies and endpoint slices. */
import { ensureFields, isFields, listAt, setDefaults } from '../fields.ts';
import type { Strategy } from '../resource.ts';

export const networkPolicyStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    setDefaults(spec, { policyTypes: spec['egress'] === undefined ? ['Ingress'] : ['Ingress', 'Egress'] });
    for (const rule of [...listAt(spec, 'ingress'), ...listAt(spec, 'egress')]) {
      for (const port of listAt(rule, 'ports')) if (isFields(port)) setDefaults(port, { protocol: 'TCP' });
    }
  },
};

export const endpointSliceStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    for (const port of listAt(draft, 'ports')) if (isFields(port)) setDefaults(port, { name: '', protocol: 'TCP' });
  },
};
