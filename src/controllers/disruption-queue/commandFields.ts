import { Labels } from '../../api/labels.ts';
import { decisionOf, type Command, type Replacement } from '../../disruption/command.ts';
import type { LogFields } from '../../kube/log.ts';

/** Instance types named in a log line. */
const NAMED_TYPES = 5;

/** Log fields of a command, under Karpenter's names. */
export function commandFields(command: Command): LogFields {
  const { candidates, replacements, consolidationType, savingsPerHour, evictions } = command;
  return {
    decision: decisionOf(command),
    ...(consolidationType && { 'consolidation-type': consolidationType }),
    'disrupted-node-count': candidates.length,
    'replacement-node-count': replacements.length,
    'pod-count': evictions,
    'savings-per-hour': savingsPerHour,
    'disrupted-nodes': candidates.map(({ view: { node, claim, labels } }) => ({
      Node: { name: node.metadata.name },
      NodeClaim: { name: claim.metadata.name },
      'instance-type': labels[Labels.instanceType],
      'capacity-type': labels[Labels.capacityType],
    })),
    'replacement-nodes': replacements.map(replacementFields),
  };
}

function replacementFields(replacement: Replacement): LogFields {
  if (replacement.kind === 'static') return { NodePool: { name: replacement.pool } };
  const { pool, alternatives } = replacement.plan;
  const names = new Set(alternatives.map(({ instanceType }) => instanceType));
  return {
    NodePool: { name: pool },
    'capacity-type': alternatives[0]?.capacityType,
    'instance-types': [...names].slice(0, NAMED_TYPES).join(', '),
  };
}
