/** NodePool: which nodes may be created, how many, and when they may be removed. */
import type { KubeObject } from '../object.ts';
import { Groups } from '../labels.ts';
import { defaulted, integer, list, map, object, oneOf, quantities, required, string } from '../schema/builder.ts';
import type { Infer } from '../schema/builder.ts';
import type { KindDefinition } from '../schema/kindDefinition.ts';
import { conditionList } from './conditionList.ts';
import { LABEL_VALUE_PATTERN, labelMapRules } from './labelRules.ts';
import {
  DURATION_OR_NEVER_PATTERN,
  expireAfter,
  nodeClassRef,
  startupTaints,
  taints,
  terminationGracePeriod,
} from './nodeTemplate.ts';
import { requirements } from './requirement.ts';

const DISRUPTION_REASONS = ['Underutilized', 'Empty', 'Drifted'] as const;

const budget = object(
  {
    duration: string({
      description:
        'How long the budget stays active after each hit of `schedule`, in hours and minutes: `8h`, `1h30m`, `45m`. ' +
        'Needs `schedule`.',
      pattern: '^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$',
    }),
    nodes: required(
      defaulted(
        string({
          description:
            'How many nodes of the pool may be going away at once: a number, or a percentage of the pool, rounded up. ' +
            '`0` stops disruption while the budget is active.',
          pattern: '^((100|[0-9]{1,2})%|[0-9]+)$',
        }),
        '10%',
      ),
    ),
    reasons: list(oneOf(DISRUPTION_REASONS, { description: 'A reason for which nodes are disrupted.' }), {
      description: 'The reasons that this budget limits. Without the list it limits all of them.',
      maxItems: 50,
      listType: 'set',
    }),
    schedule: string({
      description:
        'When the budget becomes active, as a cron expression of five fields in UTC, or @hourly, @daily, @midnight, ' +
        '@weekly, @monthly, @yearly, @annually. Needs `duration`; without both the budget is always active.',
      pattern: '^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\s(.+)\\s(.+)\\s(.+)\\s(.+))$',
    }),
  },
  { description: 'A limit on how many nodes are disrupted at the same time, always or in a time window.' },
);

const disruption = object(
  {
    budgets: defaulted(
      list(budget, {
        description:
          'How fast nodes may be disrupted. Of all budgets that are active and apply to the reason, the smallest ' +
          'counts. Default: one budget of 10%.',
        maxItems: 50,
        listType: 'atomic',
        rules: [
          {
            rule: 'self.all(x, has(x.schedule) == has(x.duration))',
            message: `'schedule' and 'duration' of a budget belong together: set both or neither`,
          },
        ],
      }),
      [{ nodes: '10%' }],
    ),
    consolidateAfter: required(
      string({
        description:
          'How long a node must have seen no pod come or go before consolidation considers it. `0s` considers it at ' +
          'once, Never switches consolidation off. Not used by pools with `replicas`.',
        pattern: DURATION_OR_NEVER_PATTERN,
      }),
    ),
    consolidationPolicy: defaulted(
      oneOf(['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'], {
        description:
          'Which nodes consolidation may take. WhenEmpty: only nodes without workload pods. WhenEmptyOrUnderutilized: ' +
          'also nodes whose pods fit elsewhere or on a cheaper instance. Balanced: like the latter, but only where the ' +
          'saving outweighs the disturbance. Not used by pools with `replicas`.',
      }),
      'WhenEmptyOrUnderutilized',
    ),
  },
  {
    description:
      'When and how fast nodes of this pool are removed or replaced to save money (consolidation) or to follow ' +
      'changes of the pool and its node class (drift).',
  },
);

const template = object(
  {
    metadata: object(
      {
        annotations: map(string(), {
          description: 'Annotations for every NodeClaim and Node of the pool.',
          mapType: 'granular',
        }),
        labels: map(string({ maxLength: 63, pattern: LABEL_VALUE_PATTERN }), {
          description: 'Labels for every NodeClaim and Node of the pool. Pods can select on them.',
          maxProperties: 100,
          mapType: 'atomic',
          rules: labelMapRules({ nodePoolKey: 'refused' }),
        }),
      },
      { description: 'Labels and annotations of the nodes.' },
    ),
    spec: required(
      object(
        {
          expireAfter,
          nodeClassRef: required(
            nodeClassRef([
              {
                rule: 'self.group == oldSelf.group',
                message: 'nodeClassRef.group cannot be changed; create another NodePool',
              },
              {
                rule: 'self.kind == oldSelf.kind',
                message: 'nodeClassRef.kind cannot be changed; create another NodePool',
              },
            ]),
          ),
          requirements: required(requirements('refused')),
          startupTaints,
          taints,
          terminationGracePeriod,
        },
        { description: 'What each node of the pool is like.' },
      ),
    ),
  },
  { description: 'The pattern for the nodes of this pool. The pods that need a node narrow it down further.' },
);

const spec = object(
  {
    disruption: defaulted(disruption, { consolidateAfter: '0s' }),
    limits: quantities({
      description:
        'The most the pool may hold in total, for example `cpu: "100"` or `nodes: 20`. At the limit no further node ' +
        'is created. Pools with `replicas` can only limit `nodes`.',
    }),
    replicas: integer({
      description:
        'ALPHA. Keep exactly this many nodes, whatever the pods need. Such a static pool is not consolidated, has no ' +
        '`weight`, and can only limit `nodes`. A pool cannot be turned from static to dynamic or back.',
      format: 'int64',
      minimum: 0,
    }),
    template: required(template),
    weight: integer({
      description: 'Pools of higher weight are tried first. Unset counts as 0. Not available together with `replicas`.',
      format: 'int32',
      minimum: 1,
      maximum: 100,
    }),
  },
  {
    description:
      'Which instances the pool may create, up to which total, and when they may be removed again. Nodes are created ' +
      'when pods cannot be scheduled, each as the cheapest instance that suits the waiting pods.',
    rules: [
      {
        rule: 'has(self.replicas) == has(oldSelf.replicas)',
        message: `a NodePool cannot be changed between static ('replicas' set) and dynamic ('replicas' unset)`,
      },
      {
        rule: `!has(self.replicas) || !has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && 'nodes' in self.limits)`,
        message: `a static NodePool (with 'replicas') can only have the limit 'nodes'`,
      },
      {
        rule: '!has(self.replicas) || !has(self.weight)',
        message: `a static NodePool (with 'replicas') cannot have a 'weight'`,
      },
    ],
  },
);

const status = object(
  {
    conditions: conditionList({ reasonAndMessage: 'required', uniqueTypes: true }),
    nodeClassObservedGeneration: integer({
      description:
        'The generation of the node class for which NodeRegistrationHealthy was observed; a newer class resets it.',
      format: 'int64',
    }),
    nodes: defaulted(integer({ description: 'How many nodes the pool has.', format: 'int64' }), 0),
    resources: quantities({ description: 'What all nodes of the pool add up to.' }),
  },
  { description: 'What is observed about the pool.' },
);

export type NodePoolSpec = Infer<typeof spec>;
export type NodePoolStatus = Infer<typeof status>;
export type NodePoolTemplate = Infer<typeof template>;
/** @public */
export type DisruptionBudget = Infer<typeof budget>;
/** @public */
export type DisruptionReason = (typeof DISRUPTION_REASONS)[number];

export interface NodePool extends KubeObject {
  spec: NodePoolSpec;
  status?: NodePoolStatus;
}

export const nodePoolDefinition: KindDefinition<NodePoolSpec, NodePoolStatus> = {
  group: Groups.karpenter,
  kind: 'NodePool',
  plural: 'nodepools',
  scope: 'Cluster',
  shortNames: [],
  categories: ['karpenter', 'nap'],
  description:
    'A NodePool says which nodes may be created for pods that do not fit anywhere, how large the sum of them may ' +
    'become, and when they may be removed or replaced.',
  versions: [{ name: 'v1', storage: true }],
  columns: [
    { name: 'NodeClass', type: 'string', jsonPath: '.spec.template.spec.nodeClassRef.name' },
    { name: 'Nodes', type: 'string', jsonPath: '.status.nodes' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Weight', type: 'integer', jsonPath: '.spec.weight', priority: 1 },
    { name: 'CPU', type: 'string', jsonPath: '.status.resources.cpu', priority: 1 },
    { name: 'Memory', type: 'string', jsonPath: '.status.resources.memory', priority: 1 },
  ],
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.nodes' },
  spec: required(spec),
  status,
};
