import { WELL_KNOWN_LABELS } from '../api/labels.ts';
import type { Pod } from '../api/kinds.ts';
import type { Taint } from '../api/kinds/nodeTemplate.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { podRequests } from '../constraints/podRequests.ts';
import { strictPodRequirements } from '../constraints/podRequirements.ts';
import type { Requirements } from '../constraints/requirements.ts';
import { untoleratedTaints } from '../constraints/taints.ts';
import { addResources, noResources, subtractResources, type Resources } from '../units/resources.ts';
import type { Alternative } from './problem.ts';

/** An instance type inside one pool: what is left for pods once the pool's daemons run on it. */
export interface MachineModel {
  readonly instanceType: InstanceType;
  readonly daemonRequests: Resources;
  readonly room: Resources;
}

export function machineModel(
  instanceType: InstanceType,
  poolRequirements: Requirements,
  taints: readonly Taint[],
  daemons: readonly Pod[],
): MachineModel {
  const here = daemons.filter((pod) => {
    const requirements = strictPodRequirements(pod);
    const hard = taints.filter(({ effect }) => effect !== 'PreferNoSchedule');
    return (
      untoleratedTaints(hard, pod.spec?.tolerations).length === 0 &&
      poolRequirements.isCompatible(requirements, WELL_KNOWN_LABELS) &&
      instanceType.requirements.intersects(requirements)
    );
  });
  const daemonRequests = here.reduce<Resources>((sum, pod) => addResources(sum, podRequests(pod)), noResources);
  return { instanceType, daemonRequests, room: subtractResources(instanceType.allocatable, daemonRequests) };
}

/** The cheapest way to buy the type under `requirements`; ties go to the first zone and capacity type by name. */
export function cheapestOffering(instanceType: InstanceType, requirements: Requirements): Alternative | undefined {
  let best: Alternative | undefined;
  for (const { zone, capacityType, price, available, requirements: offered } of instanceType.offerings) {
    if (!available || !requirements.isCompatible(offered, WELL_KNOWN_LABELS)) continue;
    const found = { instanceType, zone, capacityType, pricePerHour: price };
    if (best === undefined || compareAlternatives(found, best) < 0) best = found;
  }
  return best;
}

export function compareAlternatives(left: Alternative, right: Alternative): number {
  if (left.pricePerHour !== right.pricePerHour) return left.pricePerHour - right.pricePerHour;
  const name = (alternative: Alternative): string =>
    `${alternative.instanceType.name}/${alternative.zone}/${alternative.capacityType}`;
  return name(left) < name(right) ? -1 : 1;
}
