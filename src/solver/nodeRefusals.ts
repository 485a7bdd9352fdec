/** Why no existing node accepts a pod: number of nodes per reason, with one node as an example. */
import type { PodClass } from './model/podClass.ts';
import type { PodPlan } from './planOnce.ts';
import type { NodeRefusal } from './reasons.ts';
import { itemAt } from './rows.ts';

const ORDER: readonly NodeRefusal['stage'][] = [
  'not-ready',
  'taints',
  'requirements',
  'volumes',
  'resources',
  'host-ports',
  'topology',
];

export function nodeRefusals(plan: PodPlan, podClass: PodClass): NodeRefusal[] {
  const variant = podClass.variants.at(-1);
  const { existing } = plan.model;
  if (variant === undefined || existing.order.length === 0) return [];
  const { requirements, toleratesPreferNoSchedule } = variant.rung;
  const { tolerations } = podClass.shape;
  const found = new Map<NodeRefusal['stage'], { nodes: number; example: string }>();
  existing.order.forEach((node) => {
    const { name } = itemAt(existing.nodes, node);
    if (plan.compiled.removed.has(node) || plan.compiled.closed?.has(name) === true) return;
    const stage =
      existing.closed[node] !== 0
        ? 'not-ready'
        : !existing.tolerates(node, tolerations, podClass.tolerationsKey, toleratesPreferNoSchedule)
          ? 'taints'
          : !existing.meets(node, requirements, variant.requirementId)
            ? 'requirements'
            : plan.onExisting.obstacle(podClass, variant, node);
    if (stage === undefined) return;
    const known = found.get(stage);
    if (known === undefined) found.set(stage, { nodes: 1, example: name });
    else known.nodes += 1;
  });
  return ORDER.flatMap((stage) => {
    const refusal = found.get(stage);
    return refusal === undefined ? [] : [{ stage, ...refusal }];
  });
}
