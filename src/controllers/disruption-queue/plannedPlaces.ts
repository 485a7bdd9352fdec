import type { Pod } from '../../api/kinds.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { PlannedPods } from '../../cluster/placements.ts';
import type { Command } from '../../disruption/command.ts';
import type { WrittenReplacement } from './replacements.ts';

/** Places that a command's plan gives to the pods that must move and to waiting pods planned with them. */
export function plannedPlaces(
  cluster: Pick<Cluster, 'pod'>,
  { onExisting }: Pick<Command, 'onExisting'>,
  replacements: readonly WrittenReplacement[],
): readonly PlannedPods[] {
  const podsOf = (keys: readonly string[]): readonly Pod[] =>
    keys.flatMap((key) => {
      const slash = key.indexOf('/');
      const pod = cluster.pod({ namespace: key.slice(0, slash), name: key.slice(slash + 1) });
      // As planned: without its current node.
      return pod ? [{ ...pod, spec: { ...pod.spec, nodeName: undefined } } as unknown as Pod] : [];
    });
  return [
    ...onExisting.map(({ node, pods }) => ({ target: node, pods: podsOf(pods) })),
    ...replacements.flatMap(({ replacement, claim }) =>
      replacement.kind === 'static' ? [] : [{ target: claim.metadata.name, pods: podsOf(replacement.plan.pods) }],
    ),
  ];
}
