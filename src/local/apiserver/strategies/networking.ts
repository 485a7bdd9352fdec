/** Rules for network policies, endpoint slices and webhooks. */
import { always, each, given } from '../defaults.ts';
import type { Strategy } from '../resource.ts';

const PORTS = each({ ports: each({ protocol: 'TCP' }) });

export const networkPolicyStrategy: Strategy = {
  tracksGeneration: true,
  defaults: {
    spec: always({
      policyTypes: ({ egress }: { egress?: unknown }) => (egress === undefined ? ['Ingress'] : ['Ingress', 'Egress']),
      ingress: PORTS,
      egress: PORTS,
    }),
  },
};

export const endpointSliceStrategy: Strategy = {
  tracksGeneration: true,
  defaults: { ports: each({ name: '', protocol: 'TCP' }) },
};

const WEBHOOK = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
  rules: each({ scope: '*' }),
  clientConfig: given({ service: given({ port: 443 }) }),
};

export const validatingWebhookStrategy: Strategy = { tracksGeneration: true, defaults: { webhooks: each(WEBHOOK) } };

export const mutatingWebhookStrategy: Strategy = {
  tracksGeneration: true,
  defaults: { webhooks: each({ ...WEBHOOK, reinvocationPolicy: 'Never' }) },
};
