/** KWOKNodeClass: simulated nodes, for tests at scale. */
import type { KubeObject } from '../object.ts';
import { Groups } from '../labels.ts';
import { defaulted, object, string } from '../schema/builder.ts';
import type { Infer } from '../schema/builder.ts';
import type { KindDefinition } from '../schema/kindDefinition.ts';
import { conditionList } from './conditionList.ts';
import { DURATION_PATTERN } from './nodeTemplate.ts';

const spec = object(
  {
    nodeRegistrationDelay: string({
      description: 'How long a node takes to register after its launch, as a real instance takes time to start.',
      pattern: DURATION_PATTERN,
    }),
  },
  { description: 'How the pretended instances behave.' },
);

const status = defaulted(
  object(
    { conditions: conditionList({ reasonAndMessage: 'required', uniqueTypes: false }) },
    { description: 'Always ready, from the start.' },
  ),
  {
    conditions: [
      { lastTransitionTime: '2024-01-01T01:01:01Z', message: '', reason: 'Ready', status: 'True', type: 'Ready' },
    ],
  },
);

export type KwokNodeClassSpec = Infer<typeof spec>;
export type KwokNodeClassStatus = Infer<typeof status>;

export interface KwokNodeClass extends KubeObject {
  spec?: KwokNodeClassSpec;
  status?: KwokNodeClassStatus;
}

export const kwokNodeClassDefinition: KindDefinition<KwokNodeClassSpec, KwokNodeClassStatus> = {
  group: Groups.kwok,
  kind: 'KWOKNodeClass',
  plural: 'kwoknodeclasses',
  scope: 'Cluster',
  shortNames: ['kwoknc', 'kwokncs'],
  categories: ['karpenter'],
  description: 'A KWOKNodeClass gives a NodePool instances that exist only in the API server, for tests at scale.',
  versions: [{ name: 'v1alpha1', storage: true }],
  columns: [],
  spec,
  status,
};
