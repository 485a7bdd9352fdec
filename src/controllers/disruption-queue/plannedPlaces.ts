import type { Pod } from '../../api/kinds.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { PlannedPods } from '../../cluster/placements.ts';
import type { Command } from '../../disruption/command.ts';
import type { WrittenReplacement } from './replacements.ts';

/** Where the plan of a command puts the pods that have to move, and those that wait and go along. */
export function plannedPlaces(
  cluster: Pick<Cluster, 'pod'>,
  { onExisting }: Pick<Command, 'onExisting'>,
  replacements: readonly WrittenReplacement[],
): readonly PlannedPods[] {
  const podsOf = (keys: readonly string[]): readonly Pod[] =>
    keys.flatMap((key) => {
      const slash = key.indexOf('/');
      const pod = cluster.pod({ namespace: key.slice(0, slash), name: key.slice(slash + 1) });
      // As it was planned: without the node that it leaves.
      return pod ? [{ ...pod, spec: { ...pod.spec, nodeName: undefined } } as unknown as Pod] : [];
    });
  return [
    ...onExisting.map(({ node, pods }) => ({ target: node, pods: podsOf(pods) })),
    ...replacements.flatMap(({ replacement, claim }) =>
      replacement.kind === 'static' ? [] : [{ target: claim.metadata.name, pods: podsOf(replacement.plan.pods) }],
    ),
  ];
}
