/** The hash by which a change of a pool's template is detected, as a decimal number. */
import type { NodePool } from './kinds/nodePool.ts';
import { structureHash } from './structureHash.ts';
import type { GoStruct } from './structureHash.ts';

/** Version of the hash algorithm, stored beside the hash: hashes of different versions are never compared. */
export const NODE_POOL_HASH_VERSION = 'v3';

const TAINT: GoStruct = {
  name: 'Taint',
  fields: [
    { name: 'Key', json: 'key', type: 'string' },
    { name: 'Value', json: 'value', type: 'string' },
    { name: 'Effect', json: 'effect', type: 'string' },
    { name: 'TimeAdded', json: 'timeAdded', type: 'pointer-to-time' },
  ],
};

const CLASS_REFERENCE: GoStruct = {
  name: 'NodeClassReference',
  fields: [
    { name: 'Kind', json: 'kind', type: 'string' },
    { name: 'Name', json: 'name', type: 'string' },
    { name: 'Group', json: 'group', type: 'string' },
  ],
};

/** Requirements are omitted on purpose: nodes are compared with them one by one instead. */
const TEMPLATE: GoStruct = {
  name: 'NodeClaimTemplate',
  fields: [
    {
      name: 'ObjectMeta',
      json: 'metadata',
      type: {
        struct: {
          name: 'ObjectMeta',
          fields: [
            { name: 'Labels', json: 'labels', type: { mapOfStrings: true } },
            { name: 'Annotations', json: 'annotations', type: { mapOfStrings: true } },
          ],
        },
      },
    },
    {
      name: 'Spec',
      json: 'spec',
      type: {
        struct: {
          name: 'NodeClaimTemplateSpec',
          fields: [
            { name: 'Taints', json: 'taints', type: { listOf: { struct: TAINT } } },
            { name: 'StartupTaints', json: 'startupTaints', type: { listOf: { struct: TAINT } } },
            { name: 'NodeClassRef', json: 'nodeClassRef', type: { struct: CLASS_REFERENCE, pointer: true } },
            { name: 'TerminationGracePeriod', json: 'terminationGracePeriod', type: 'pointer-to-duration' },
            { name: 'ExpireAfter', json: 'expireAfter', type: 'nillable-duration' },
          ],
        },
      },
    },
  ],
};

export function nodePoolHash(nodePool: Pick<NodePool, 'spec'>): string {
  return structureHash(TEMPLATE, nodePool.spec.template);
}
