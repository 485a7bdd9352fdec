/** CapacityBuffer: room reserved for future pods. */
import type { KubeObject } from '../object.ts';
import { Groups } from '../labels.ts';
import { defaulted, integer, object, quantities, required, string } from '../schema/builder.ts';
import type { Infer } from '../schema/builder.ts';
import type { KindDefinition } from '../schema/kindDefinition.ts';
import { conditionList } from './conditionList.ts';

function podTemplateRef(description: string) {
  return object(
    { name: required(string({ description: 'The name of the PodTemplate, in the same namespace.', minLength: 1 })) },
    { description },
  );
}

const spec = object(
  {
    limits: quantities({
      description: 'The most that the buffer may take up in total; alone, with a template, it sets the size.',
    }),
    percentage: integer({
      description: 'The size of the buffer as a share of the replicas of `scalableRef`, rounded up to at least 1.',
      format: 'int32',
      minimum: 0,
    }),
    podTemplateRef: podTemplateRef('The shape of the pods to keep room for. Excludes `scalableRef`.'),
    provisioningStrategy: defaulted(
      string({ description: 'How the room is kept: `buffer.x-k8s.io/active-capacity` keeps nodes running for it.' }),
      'buffer.x-k8s.io/active-capacity',
    ),
    replicas: integer({ description: 'For how many pods room is kept.', format: 'int32', minimum: 0 }),
    scalableRef: object(
      {
        apiGroup: string({ description: 'The API group of the workload, for example `apps`.' }),
        kind: required(string({ description: 'Deployment, StatefulSet or ReplicaSet.', minLength: 1 })),
        name: required(string({ description: 'The name of the workload, in the same namespace.', minLength: 1 })),
      },
      {
        description: 'A workload whose pods give the shape, and with `percentage` the size. Excludes `podTemplateRef`.',
      },
    ),
  },
  {
    description: 'What room is kept.',
    rules: [
      {
        rule: '!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)',
        message: `'podTemplateRef' needs 'replicas' or 'limits' beside it`,
      },
      {
        rule: '!(has(self.podTemplateRef) && has(self.scalableRef))',
        message: `'podTemplateRef' and 'scalableRef' exclude each other`,
      },
    ],
  },
);

const status = object(
  {
    conditions: conditionList({ reasonAndMessage: 'required', uniqueTypes: true }),
    podTemplateGeneration: integer({
      description: 'The generation of the PodTemplate that the buffer was sized with.',
      format: 'int64',
    }),
    podTemplateRef: podTemplateRef('The PodTemplate in use.'),
    provisioningStrategy: string({ description: 'The strategy in use.' }),
    replicas: integer({ description: 'For how many pods room is kept now.', format: 'int32' }),
  },
  { description: 'What the buffer came to.' },
);

export type CapacityBufferSpec = Infer<typeof spec>;
export type CapacityBufferStatus = Infer<typeof status>;

export interface CapacityBuffer extends KubeObject {
  spec: CapacityBufferSpec;
  status?: CapacityBufferStatus;
}

export const capacityBufferDefinition: KindDefinition<CapacityBufferSpec, CapacityBufferStatus> = {
  group: Groups.buffers,
  kind: 'CapacityBuffer',
  plural: 'capacitybuffers',
  scope: 'Namespaced',
  shortNames: ['cb'],
  categories: ['autoscaling'],
  description:
    'A CapacityBuffer keeps room in the cluster for pods that do not exist yet, so that they start without waiting ' +
    'for an instance.',
  versions: [{ name: 'v1beta1', storage: true }],
  columns: [
    { name: 'Strategy', type: 'string', jsonPath: '.spec.provisioningStrategy' },
    { name: 'PodTemplate', type: 'string', jsonPath: '.status.podTemplateRef.name' },
    { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'ConditionsType', type: 'string', jsonPath: '.status.conditions[*].type' },
    { name: 'ConditionsStatus', type: 'string', jsonPath: '.status.conditions[*].status' },
    { name: 'ConditionsReason', type: 'string', jsonPath: '.status.conditions[*].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: required(spec),
  status,
};
