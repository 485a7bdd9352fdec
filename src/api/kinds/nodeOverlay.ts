/** NodeOverlay: corrects prices or adds capacity to instance types. */
import type { KubeObject } from '../object.ts';
import { Groups } from '../labels.ts';
import { integer, object, quantities, required, string } from '../schema/builder.ts';
import type { Infer } from '../schema/builder.ts';
import type { KindDefinition } from '../schema/kindDefinition.ts';
import { conditionList } from './conditionList.ts';
import { overlayRequirements } from './requirement.ts';

const spec = object(
  {
    capacity: quantities({
      description:
        'Extended resources that the matching instance types have in addition, for example `smarter-devices/fuse: 1`.',
      rules: [
        {
          rule: `self.all(x, !(x in ['cpu', 'memory', 'ephemeral-storage', 'pods']))`,
          message: 'cpu, memory, ephemeral-storage and pods are restricted: an overlay can only add other resources',
        },
      ],
    }),
    price: string({
      description: 'The price per hour to reckon with instead of the list price, for example `"0.25"`.',
      pattern: '^\\d+(\\.\\d+)?$',
    }),
    priceAdjustment: string({
      description:
        'What to add to the list price, always with a sign: an amount (`"-0.10"`) or a percentage (`"+10%"`). The ' +
        'result is never below 0.',
      pattern: '^(([+-]{1}(\\d*\\.?\\d+))|(\\+{1}\\d*\\.?\\d+%)|(^(-\\d{1,2}(\\.\\d+)?%)$)|(-100%))$',
    }),
    requirements: required(overlayRequirements()),
    weight: integer({
      description:
        'Where overlays meet, the higher weight wins. Two of equal weight that contradict each other are both refused ' +
        'by the name that sorts lower. Unset counts as 0.',
      format: 'int32',
      minimum: 1,
      maximum: 10000,
    }),
  },
  {
    description: 'Which instance types are meant, and what is different about them.',
    rules: [
      {
        rule: '!has(self.price) || !has(self.priceAdjustment)',
        message: `'price' and 'priceAdjustment' exclude each other`,
      },
    ],
  },
);

const status = object(
  { conditions: conditionList({ reasonAndMessage: 'required', uniqueTypes: true }) },
  { description: 'Whether the overlay is in use.' },
);

export type NodeOverlaySpec = Infer<typeof spec>;
export type NodeOverlayStatus = Infer<typeof status>;

export interface NodeOverlay extends KubeObject {
  spec: NodeOverlaySpec;
  status?: NodeOverlayStatus;
}

export const nodeOverlayDefinition: KindDefinition<NodeOverlaySpec, NodeOverlayStatus> = {
  group: Groups.karpenter,
  kind: 'NodeOverlay',
  plural: 'nodeoverlays',
  scope: 'Cluster',
  shortNames: ['overlays'],
  categories: ['karpenter'],
  description:
    'A NodeOverlay corrects what is assumed about instance types before instances are chosen: their price (your ' +
    'discount, a licence fee) or extended resources that the cloud does not report.',
  versions: [{ name: 'v1alpha1', storage: true }],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Weight', type: 'integer', jsonPath: '.spec.weight', priority: 1 },
  ],
  spec: required(spec),
  status,
};
