import type { Pod } from '../../api/kinds.ts';
import type { Command } from '../../disruption/command.ts';
import type { World } from '../world/world.ts';
import type { WrittenReplacement } from './replacements.ts';

/**
 * Holds the places that the plan of a command has for its pods, so that the provisioner neither gives them to others nor
 * buys nodes for these pods.
 */
export function reservePlaces(
  { cluster }: Pick<World, 'cluster'>,
  { onExisting }: Pick<Command, 'onExisting'>,
  replacements: readonly WrittenReplacement[],
  until: number,
): void {
  const podsOf = (keys: readonly string[]): readonly Pod[] =>
    keys.flatMap((key) => {
      const slash = key.indexOf('/');
      return cluster.pod({ namespace: key.slice(0, slash), name: key.slice(slash + 1) }) ?? [];
    });
  const hold = (pods: readonly Pod[], claim: string, node: string): void => {
    if (pods.length === 0) return;
    cluster.promise(pods, claim, until);
    cluster.nominate(node, until);
  };
  for (const { replacement, claim } of replacements) {
    const { name } = claim.metadata;
    if (replacement.kind === 'planned') hold(podsOf(replacement.plan.pods), name, name);
  }
  const chosen = new Map(onExisting.map(({ node, pods }) => [node, pods]));
  for (const { name, claim } of cluster.snapshot().nodes) {
    const pods = chosen.get(name);
    if (pods !== undefined && claim !== undefined) hold(podsOf(pods), claim.metadata.name, name);
  }
}
