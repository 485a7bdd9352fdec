/** Rules for network policies, endpoint slices and webhooks. */
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

export const webhookStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    for (const hook of listAt(draft, 'webhooks')) {
      if (!isFields(hook)) continue;
      setDefaults(hook, {
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        timeoutSeconds: 10,
        ...(draft.kind === 'MutatingWebhookConfiguration' ? { reinvocationPolicy: 'Never' } : {}),
      });
      for (const rule of listAt(hook, 'rules')) if (isFields(rule)) setDefaults(rule, { scope: '*' });
      const service = isFields(hook['clientConfig']) ? hook['clientConfig']['service'] : undefined;
      if (isFields(service)) setDefaults(service, { port: 443 });
    }
  },
};
