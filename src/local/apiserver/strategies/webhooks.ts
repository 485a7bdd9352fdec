/** Rules for webhook configurations. */
import { isFields, listAt, setDefaults } from '../fields.ts';
import type { Strategy } from '../resource.ts';

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
